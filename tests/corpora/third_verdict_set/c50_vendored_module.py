"""A library lies in a folder of the project that is called like those of an installation; it is edited later."""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "vendor/lib/python3.11/site-packages"))
import tariff  # noqa: E402

for kilos in (1, 5, 20):
    print(kilos, tariff.price(kilos))
