"""The main program is over; a thread that is no daemon goes on, and prints what it measured."""
import ctypes
import threading
import time


class Moment(ctypes.Structure):
    _fields_ = [("seconds", ctypes.c_long), ("rest", ctypes.c_long)]


def nanoseconds():
    """A clock of the C library, which no system call shows."""
    moment = Moment()
    ctypes.CDLL(None).clock_gettime(1, ctypes.byref(moment))
    return moment.seconds * 10**9 + moment.rest

def late():
    threading.main_thread().join()
    time.sleep(0.05)
    print("after the end:", nanoseconds())


threading.Thread(target=late).start()
print("main is over")
