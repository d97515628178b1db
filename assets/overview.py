#!/usr/bin/env python3
"""Makes overview.png and overview-dark.png, the picture at the top of the README, of what the examples write:

    python3 assets/overview.py

It runs the examples' commands and needs Cargo, Pillow and CairoSVG; the committed files were made with Pillow 13.0.0 and
CairoSVG 2.9.1.
"""

import io
import pathlib
import re
import subprocess
import tempfile

import cairosvg
from PIL import Image, ImageDraw, ImageFont

ASSETS = pathlib.Path(__file__).parent
PICTURE = ASSETS / "astronaut.png"
CHART = 660  # pixels across
GAP = 16
LINE = 24  # for a caption


def example(name, *arguments):
    subprocess.run(["cargo", "run", "--quiet", "--release", "--example", name, "--", *map(str, arguments)],
                   cwd=ASSETS.parent, stdout=subprocess.DEVNULL, check=True)


def chart(svg, dark):
    """The chart as a browser shows it on a light or a dark page."""
    if dark:
        svg = re.sub(r"@media \(prefers-color-scheme: dark\) {(.*) }(?=</style>)", r"\1", svg)
    return Image.open(io.BytesIO(cairosvg.svg2png(svg.encode(), output_width=CHART))).convert("RGB")


def overview(pictures, svg, dark):
    """The pictures one below the other, the chart beside them, and a caption above each."""
    paper, ink = ("#14181c", "#e9ecef") if dark else ("#ffffff", "#1a1a1a")
    right = chart(svg, dark)
    size = (right.height + LINE) // len(pictures) - LINE
    whole = Image.new("RGB", (3 * GAP + size + right.width, right.height + LINE + 2 * GAP), paper)
    draw, font = ImageDraw.Draw(whole), ImageFont.load_default(13)

    def put(caption, picture, left, top):
        draw.text((left, top + 3), caption, ink, font)
        whole.paste(picture, (left, top + LINE))

    for k, (caption, picture) in enumerate(pictures.items()):
        small = picture.resize((size, size), Image.Resampling.LANCZOS)
        put(caption, small, GAP, GAP + k * (size + LINE))
    put("02_histogram", right, GAP + size + GAP, GAP)
    return whole.quantize(256, Image.Quantize.MAXCOVERAGE, kmeans=1, dither=Image.Dither.NONE)


def main():
    with tempfile.TemporaryDirectory() as folder:
        blurred, turned, svg = (pathlib.Path(folder) / name for name in ("blurred.png", "turned.png", "chart.svg"))
        example("01_blur", PICTURE, blurred, "--sigma", 6)
        example("03_transpose", PICTURE, turned, "rotate90")
        example("02_histogram", PICTURE, "--svg", svg)
        files = {"astronaut.png": PICTURE, "01_blur --sigma 6": blurred, "03_transpose rotate90": turned}
        pictures = {caption: Image.open(path).convert("RGB") for caption, path in files.items()}
        for name, dark in (("overview.png", False), ("overview-dark.png", True)):
            overview(pictures, svg.read_text(), dark).save(ASSETS / name, optimize=True)


if __name__ == "__main__":
    main()
