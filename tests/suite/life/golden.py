#!/usr/bin/env python3
"""Writes golden.json: boards of `Life`, and SciPy's boards some generations later.

    python3 tests/suite/life/golden.py

needs NumPy and SciPy; the committed file was made with NumPy 2.4.6 and SciPy 1.17.1, and it names the versions that made it. The
same versions give the same file.

A generation is `scipy.signal.convolve2d` with a ring of eight ones, of a board that a border of one cell continues as its topology
says. Cells are random; a third of them is alive (`O`).
"""

import json
import pathlib
import sys

import numpy as np
import scipy
from scipy.signal import convolve2d

SEED = 20261125
TOPOLOGIES = ["Plane", "Torus", "Cylinder", "KleinBottle"]
RULES = ["B3/S23", "B36/S23", "B3678/S34678", "B2/S", "B0/S8"]
# Rows, columns, and generations.
BOARDS = [(3, 4, 2), (1, 9, 3), (5, 33, 8), (9, 64, 17), (17, 65, 9), (33, 70, 9)]
RING = np.array([[1, 1, 1], [1, 0, 1], [1, 1, 1]])


def bordered(cells, topology):
    """Returns the cells with a border of one cell. The ends of rows are joined, and then, perhaps mirrored, those of columns."""
    if topology == "Plane":
        return np.pad(cells, 1)
    beside = np.pad(cells, [(0, 0), (1, 1)], mode="wrap")
    if topology == "Cylinder":
        return np.pad(beside, [(1, 1), (0, 0)])
    turned = np.flip(beside, axis=1) if topology == "KleinBottle" else beside
    return np.vstack([turned[-1:], beside, turned[:1]])


def next_generation(cells, rule, topology):
    births, survivals = ([int(digit) for digit in part[1:]] for part in rule.split("/"))
    neighbours = convolve2d(bordered(cells, topology), RING, mode="valid")
    return np.where(cells == 1, np.isin(neighbours, survivals), np.isin(neighbours, births)).astype(int)


def lines(cells):
    return ["".join("O" if cell else "." for cell in row) for row in cells]


def main():
    rng = np.random.default_rng(SEED)
    cases = []
    for i, topology in enumerate(TOPOLOGIES):
        for j, (rows, columns, generations) in enumerate(BOARDS):
            rule = RULES[(i + j) % len(RULES)]
            first = (rng.integers(0, 3, (rows, columns)) == 0).astype(int)
            last = first
            for _ in range(generations):
                last = next_generation(last, rule, topology)
            case = {"topology": topology, "rule": rule, "generations": generations}
            cases.append({**case, "first": lines(first), "last": lines(last)})
    path = pathlib.Path(__file__).with_suffix(".json")
    text = ",\n".join(json.dumps(case, separators=(",", ":")) for case in cases)
    made_by = json.dumps({"numpy": np.__version__, "scipy": scipy.__version__})
    path.write_text(f'{{"made_by": {made_by},\n"cases": [\n{text}\n]}}\n')
    print(f"{len(cases)} cases in {path}", file=sys.stderr)


if __name__ == "__main__":
    main()
