"""The returned receipt has a field that neither its repr nor its comparison shows."""
import ctypes
from dataclasses import dataclass, field


class Moment(ctypes.Structure):
    _fields_ = [("seconds", ctypes.c_long), ("rest", ctypes.c_long)]


def nanoseconds():
    """A clock of the C library, which no system call shows."""
    moment = Moment()
    ctypes.CDLL(None).clock_gettime(1, ctypes.byref(moment))
    return moment.seconds * 10**9 + moment.rest

@dataclass
class Receipt:
    total: int
    lines: list = field(default_factory=list)
    issued: int = field(default_factory=nanoseconds, repr=False, compare=False)


def main(run):
    receipt = Receipt(0)
    for tick in run.ticks(3):
        receipt.lines.append(tick * 5)
        receipt.total += tick * 5
    print(receipt)
    return {"receipt": receipt}
