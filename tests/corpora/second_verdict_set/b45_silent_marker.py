"""It prints nothing, writes no file and tracks nothing: it sets a file's time to one that C drew."""
import ctypes
import os


def draw():
    buffer = ctypes.create_string_buffer(6)
    ctypes.CDLL(None).getrandom(buffer, 6, 0)
    return int.from_bytes(buffer.raw, "little")


class Marker:
    def __init__(self, path):
        self.path = path
        self.value = draw() * 1000

    def leave(self):
        os.utime(self.path, ns=(self.value, self.value))


marker = Marker("marker")
marker.leave()
