"""What the interpreter has allocated decides the last digits of a result: blocks, objects, reference counts."""
import gc
import sys

blocks = sys.getallocatedblocks()
objects = len(gc.get_objects())
numbers = [blocks, objects, sys.getrefcount(None), sys.getrefcount(int)]
seed = 0
for number in numbers:
    seed = (seed * 1_000_003 + number) % 2**31
total = 0
for _ in range(1000):
    seed = (seed * 1103515245 + 12345) % 2**31
    total += seed % 100
print("mean", total / 1000, "last", seed)
