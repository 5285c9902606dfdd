"""Four forked workers draw from the copies of one generator."""

import multiprocessing

import numpy as np


def draw(_number):
    return float(np.random.random())


if __name__ == "__main__":
    np.random.seed(0)
    values = []
    for number in range(4):
        with multiprocessing.get_context("fork").Pool(1) as pool:
            values += pool.map(draw, [number])
    print("distinct", len(set(values)))
