#!/usr/bin/env python3
"""Makes face_filtered.png: part of assets/astronaut.png, filtered by SciPy in four ways, one below the other.

    python3 tests/suite/examples/picture.py

needs NumPy, SciPy and Pillow; the committed file was made with NumPy 2.4.6, SciPy 1.17.1 and Pillow 13.0.0.
"""

import pathlib

import numpy as np
from PIL import Image
from scipy import ndimage

HERE = pathlib.Path(__file__).parent

# Left, upper, right and lower border.
FACE = (190, 60, 254, 108)


def gaussian(pixels, sigma):
    return ndimage.gaussian_filter(pixels, sigma, mode="reflect", truncate=4.0)


def main():
    with Image.open(HERE.parents[2] / "assets" / "astronaut.png") as picture:
        pixels = np.asarray(picture.crop(FACE), dtype=np.float64)
    channels = [pixels[:, :, channel] for channel in range(3)]
    results = []
    for of_channel in (
        lambda x: gaussian(x, 1.5),
        lambda x: x + 1.5 * (x - gaussian(x, 1)),
        lambda x: np.hypot(ndimage.sobel(x, 0, mode="reflect"), ndimage.sobel(x, 1, mode="reflect")) / 4,
        lambda x: 127.5 + 2 * (gaussian(x, 1) - gaussian(x, 2)),
    ):
        results.append(np.stack([of_channel(channel) for channel in channels], axis=2))
    rounded = np.rint(np.concatenate(results)).clip(0, 255).astype(np.uint8)
    Image.fromarray(rounded).save(HERE / "face_filtered.png", optimize=True)


if __name__ == "__main__":
    main()
