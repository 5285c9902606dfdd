"""Prints reference counts, counts of the collector, and in which turn of a loop it collected; no clock and no entropy."""
import gc
import sys

turns, turn = [], 0
gc.callbacks.append(lambda phase, about: turns.append((phase, about["generation"], turn)) if phase == "start" else None)
keep = []
for turn in range(5000):
    keep.append([turn])
lines = [
    f"none {sys.getrefcount(None)} true {sys.getrefcount(True)} one {sys.getrefcount(1)} path {sys.getrefcount(sys.path)}",
    f"blocks {sys.getallocatedblocks()} objects {len(gc.get_objects())} count {gc.get_count()}",
    f"modules {len(sys.modules)} interned {sys.getrefcount('')}",
    f"turns {turns}",
]
with open("observed.txt", "w") as file:
    file.write("\n".join(lines))
print("\n".join(lines))
