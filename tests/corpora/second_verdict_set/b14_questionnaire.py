"""Arguments, environment and questions at the terminal."""
import argparse
import os
import sys

parser = argparse.ArgumentParser(description="ferry fares")
parser.add_argument("harbour")
parser.add_argument("--rate", type=float, default=1.0)
parser.add_argument("--dry-run", action="store_true")
options = parser.parse_args()
print(options)
region = os.environ.get("BS60_REGION", "nowhere")
print("region", region, os.getenv("BS60_UNSET", "unset"))

name = input("Who travels? ")
people = int(input("How many? "))
while True:
    answer = input("Car (y/n)? ").strip().lower()
    if answer in ("y", "n"):
        break
    print("please say y or n", file=sys.stderr)
fare = options.rate * people * 12 + (30 if answer == "y" else 0)
print(f"{name}: {fare:.2f} from {options.harbour} in {region}")
print("remarks:")
for number, line in enumerate(sys.stdin, 1):
    print(number, line.rstrip().upper())
try:
    input("anything else? ")
except EOFError:
    print("\nno more input")
os.environ["BS60_DONE"] = "yes"
print(os.path.expandvars("$BS60_REGION/$BS60_DONE"))
