"""A program that remembers: it counts its runs in a file and appends to a history."""
import json
import time
from pathlib import Path

counter = Path("runs.txt")
history = Path("history.log")
state = Path("state.json")

number = int(counter.read_text()) + 1
counter.write_text(f"{number}\n")
with history.open("a") as file:
    print(f"run {number} at {time.time():.3f}", file=file)
lines = history.read_text().splitlines()
print(f"this is run {number}; history has {len(lines)} lines; the first is {lines[0]!r}")

known = json.loads(state.read_text()) if state.exists() else {"best": 0}
known["best"] = max(known["best"], number * 10)
new = state.with_suffix(".new")
new.write_text(json.dumps(known))
new.replace(state)
print("best so far", known["best"])
if number % 5 == 0:
    print("time for maintenance")
