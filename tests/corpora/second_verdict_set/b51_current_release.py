"""Code is imported through a link to the current release; the link is turned to another one later."""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "current"))


def quote(kilograms):
    import pricing  # at the first quote only

    return pricing.price(kilograms)


for kilograms in (1, 5, 25):
    print(kilograms, "kg:", quote(kilograms))
