"""Counts its own runs in a file outside of the folder, which somebody else sets to another number in between."""
import pathlib

file = pathlib.Path("/var/tmp/bs_l36/counter")
count = int(file.read_text()) + 1
file.write_text(f"{count}\n")
pathlib.Path("observed.txt").write_text(f"{count}\n")
print("run number", count)
