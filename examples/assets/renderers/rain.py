"""Rain on the lamp house: filtered noise and single drops, drawn from one seed."""

import argparse

import numpy as np
import sounds

RATE = 44_100

parser = argparse.ArgumentParser()
parser.add_argument("output")
parser.add_argument("--seed", type=int, required=True)
parser.add_argument("--seconds", type=float, default=4.0)
parser.add_argument("--drops", type=int, default=240)
parser.add_argument("--gain-db", type=float, default=0.0)
options = parser.parse_args()

rng = np.random.default_rng(options.seed)
count = int(options.seconds * RATE)
bed = np.cumsum(rng.standard_normal((2, count + 64)), axis=1)
rain = 0.02 * (bed[:, 64:] - bed[:, :-64])
for at, pitch, pan in zip(
    rng.integers(0, count - 2000, options.drops),
    rng.uniform(900, 4200, options.drops),
    rng.uniform(0, 1, options.drops),
    strict=True,
):
    times = np.arange(2000) / RATE
    drop = 0.2 * np.exp(-times * 160) * np.sin(2 * np.pi * pitch * times)
    rain[:, at : at + 2000] += np.outer([1 - pan, pan], drop)
sounds.write(options.output, rain * 10 ** (options.gain_db / 20), RATE)
