#!/usr/bin/env python3
"""Writes golden.json: NumPy's results for the matrices that `Transpose` transposes.

    python3 tests/suite/transpose/golden.py

needs NumPy; the committed file was made with NumPy 2.4.6, and it names the version that made it. The same version gives
the same file.

Each case is an array `count x rows x columns x components` of integers from the type's whole range, and its
`numpy.transpose` that exchanges the second and third axis, both in C order.
"""

import json
import pathlib
import sys

import numpy as np

SEED = 20261122
# Element types, and the numbers of an element.
TYPES = {"u8": [1, 3, 5], "u16": [1, 3], "u32": [1, 2, 3], "u64": [1, 2]}
# Matrices, rows, columns.
SHAPES = [(1, 1, 1), (1, 1, 9), (1, 9, 1), (3, 4, 5), (1, 16, 8), (2, 7, 11)]


def main():
    rng = np.random.default_rng(SEED)
    cases = []
    for kind, components in TYPES.items():
        dtype = np.dtype(kind.replace("u", "uint"))
        for n in components:
            for count, rows, columns in SHAPES:
                shape = (count, rows, columns, n)
                matrices = rng.integers(0, np.iinfo(dtype).max, shape, dtype, endpoint=True)
                transposed = np.transpose(matrices, (0, 2, 1, 3))
                flat = {"input": matrices.ravel().tolist(), "output": transposed.ravel().tolist()}
                cases.append({"type": kind, "shape": shape, **flat})
    path = pathlib.Path(__file__).with_suffix(".json")
    lines = ",\n".join(json.dumps(case, separators=(",", ":")) for case in cases)
    path.write_text(f'{{"made_by": {{"numpy": "{np.__version__}"}},\n"cases": [\n{lines}\n]}}\n')
    print(f"{len(cases)} cases in {path}", file=sys.stderr)


if __name__ == "__main__":
    main()
