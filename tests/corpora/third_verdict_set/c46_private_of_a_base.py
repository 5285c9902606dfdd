"""A tracked object hides a number in a slot of its base class, under a private name that its own class has too."""
import ctypes


class Moment(ctypes.Structure):
    _fields_ = [("seconds", ctypes.c_long), ("rest", ctypes.c_long)]


def nanoseconds():
    """A clock of the C library, which no system call shows."""
    moment = Moment()
    ctypes.CDLL(None).clock_gettime(1, ctypes.byref(moment))
    return moment.seconds * 10**9 + moment.rest

class Base:
    __slots__ = ("__secret", "level")

    def __init__(self):
        self.__secret, self.level = nanoseconds(), 0


class Middle(Base):
    __slots__ = ()


class Tank(Middle):
    __slots__ = ("__secret", "__dict__")

    def __init__(self):
        super().__init__()
        self.__secret = 1
        self.name = "tank"


def main(run):
    tank = run.track("tank", Tank())
    for _ in run.ticks(4):
        tank.level += 2
    print(tank.name, tank.level)
