"""A voice in the stairwell: an effect chain, by pedalboard or, where it is not asked for, by numpy.

pedalboard is licensed under the GPL; this file is run as a program of its own and imported by nobody.
"""

import argparse

import numpy as np
import sounds

parser = argparse.ArgumentParser()
parser.add_argument("input")
parser.add_argument("output")
parser.add_argument("--chain", choices=["pedalboard", "numpy"], required=True)
parser.add_argument("--cutoff-hz", type=float, default=140.0)
parser.add_argument("--delay-s", type=float, default=0.11)
parser.add_argument("--room", type=float, default=0.6)
parser.add_argument("--wet", type=float, default=0.3)
options = parser.parse_args()


def by_pedalboard(dry, rate):
    from pedalboard import Delay, HighpassFilter, Pedalboard, Reverb

    chain = Pedalboard(
        [
            HighpassFilter(cutoff_frequency_hz=options.cutoff_hz),
            Delay(delay_seconds=options.delay_s, feedback=0.2, mix=options.wet / 2),
            Reverb(room_size=options.room, wet_level=options.wet, dry_level=1 - options.wet),
        ]
    )
    return chain(dry.astype(np.float32), rate, reset=True)


def by_numpy(dry, rate):
    smooth = max(1, int(rate / options.cutoff_hz))
    kernel = np.ones(smooth) / smooth
    wet = np.stack([each - np.convolve(each, kernel, "same") for each in dry])
    step = int(options.delay_s * rate)
    tail = wet.copy()
    for echo in range(1, 6):
        shifted = np.zeros_like(wet)
        shifted[:, echo * step :] = wet[:, : -echo * step] if echo * step < wet.shape[1] else 0
        tail += options.room**echo * shifted
    return (1 - options.wet) * wet + options.wet * tail


dry, rate = sounds.read(options.input)
chain = by_pedalboard if options.chain == "pedalboard" else by_numpy
padded = np.pad(dry, ((0, 0), (0, rate // 2)))
sounds.write(options.output, 0.7 * chain(padded, rate), rate)
