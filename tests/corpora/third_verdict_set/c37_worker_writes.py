"""A worker process gets a number over a pipe of multiprocessing and files it."""
import ctypes
import multiprocessing
from pathlib import Path


class Moment(ctypes.Structure):
    _fields_ = [("seconds", ctypes.c_long), ("rest", ctypes.c_long)]


def nanoseconds():
    """A clock of the C library, which no system call shows."""
    moment = Moment()
    ctypes.CDLL(None).clock_gettime(1, ctypes.byref(moment))
    return moment.seconds * 10**9 + moment.rest

def file_it(connection):
    number = connection.recv()
    Path("filed.txt").write_text(f"{number} {number % 97}\n")
    connection.send("filed")


if __name__ == "__main__":
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe()
    worker = context.Process(target=file_it, args=(theirs,))
    worker.start()
    ours.send(nanoseconds())
    print(ours.recv())
    worker.join()
