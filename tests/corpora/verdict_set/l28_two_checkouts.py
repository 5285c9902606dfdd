"""Imports its helper from the checkout that a link points to; the link points to the other checkout in between."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "current"))
import tariff

with open("observed.txt", "w") as file:
    print(tariff.price(10), file=file)
print("price", tariff.price(10))
