"""Weights stand in a segment of shared memory that another program made; that program changes them later."""
import mmap
import os
import struct

import _posixshmem

descriptor = _posixshmem.shm_open("/cs60-weights", os.O_RDWR)
with mmap.mmap(descriptor, 64) as segment:
    weights = struct.unpack("8d", segment[:64])
os.close(descriptor)
inputs = [0.5, 1.0, -1.0, 2.0, 0.25, 3.0, -2.0, 1.5]
print("score", sum(w * x for w, x in zip(weights, inputs)))
