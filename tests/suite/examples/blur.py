#!/usr/bin/env python3
"""Makes camera_sigma3.png: assets/camera.png, blurred by SciPy.

    python3 tests/suite/examples/blur.py

needs NumPy, SciPy and Pillow; the committed file was made with NumPy 2.4.6, SciPy 1.17.1 and Pillow 13.0.0.
"""

import pathlib

import numpy as np
from PIL import Image
from scipy import ndimage

HERE = pathlib.Path(__file__).parent


def main():
    with Image.open(HERE.parents[2] / "assets" / "camera.png") as picture:
        pixels = np.asarray(picture, dtype=np.float64)
    assert pixels.ndim == 2, "the picture is grey"
    blurred = ndimage.gaussian_filter(pixels, sigma=3, mode="reflect", truncate=4.0)
    rounded = np.floor(blurred + 0.5).clip(0, 255).astype(np.uint8)
    Image.fromarray(rounded).save(HERE / "camera_sigma3.png", optimize=True)


if __name__ == "__main__":
    main()
