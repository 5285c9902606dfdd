"""A tracked array of readings, of which a measured half is masked; the numbers below are the same."""
import ctypes

import numpy as np


class Moment(ctypes.Structure):
    _fields_ = [("seconds", ctypes.c_long), ("rest", ctypes.c_long)]


def nanoseconds():
    """A clock of the C library, which no system call shows."""
    moment = Moment()
    ctypes.CDLL(None).clock_gettime(1, ctypes.byref(moment))
    return moment.seconds * 10**9 + moment.rest

class Gauge:
    def __init__(self):
        self.readings = np.ma.masked_array(np.arange(64.0))
        bits = nanoseconds() * 2654435761 % 2**64
        self.readings.mask = [bool(bits >> place & 1) for place in range(64)]


def main(run):
    gauge = run.track("gauge", Gauge())
    for tick in run.ticks(3):
        gauge.readings += tick
    print(gauge.readings.data.tolist()[:3])
