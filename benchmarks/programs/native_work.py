"""Programs that the layer below Python sees: imports, opens of C code, forks, images, and none of these.

Usage: python native_work.py NAME COUNT
"""

import ctypes
import os
import subprocess
import sys


def importing(_count):
    """Import a library of thousands of files."""
    import torch  # noqa: F401


def opening(count):
    """Open and close files in C code, half of them to write."""
    libc = ctypes.CDLL(None)
    for number in range(count):
        name, flags = (
            (b"output", os.O_WRONLY | os.O_CREAT) if number % 2 else (b"input", os.O_RDONLY)
        )
        libc.close(libc.open(b"%s-%d" % (name, number % 100), flags, 0o644))


def forking(count):
    """Start children: half forked, half spawned with a program of their own."""
    for number in range(count):
        if number % 2:
            subprocess.run(["/bin/true"], check=True)
        elif not (child := os.fork()):
            os._exit(0)
        else:
            os.waitpid(child, 0)


def drawing_by_opencv(count):
    """Write small images in C++."""
    import cv2
    import numpy as np

    picture = np.arange(32 * 32 * 3, dtype=np.uint8).reshape(32, 32, 3)
    for number in range(count):
        cv2.imwrite(f"drawn-{number}.png", picture)


def drawing_by_pillow(count):
    """Write small images through Python's own ``open``."""
    from PIL import Image

    picture = Image.frombytes("RGB", (32, 32), bytes(range(256)) * 12)
    for number in range(count):
        picture.save(f"drawn-{number}.png")


def computing(count):
    """Compute, and touch no file."""
    total = 0
    for number in range(count):
        total += number * number % 7
    print(total)


if __name__ == "__main__":
    globals()[sys.argv[1]](int(sys.argv[2]))
