"""A small package with a data file and a lazily imported part; only its files' times change later."""
import importlib
import importlib.resources
import json

import ferrylib
from ferrylib import fares

print(ferrylib.__version__, fares.price(3))
table = json.loads(importlib.resources.files("ferrylib").joinpath("table.json").read_text())
print(table)


def late(name):
    module = importlib.import_module(f"ferrylib.{name}")
    return module.describe(table)


print(late("report"))
with open("ports.txt") as file:
    ports = [line.split()[0] for line in file if line.strip()]
print(ports, sum(fares.price(len(p)) for p in ports))
