"""A table lies beside a library in a folder that is called like those of an installation; it is edited later."""
import importlib.resources
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "vendor/lib/python3.11/site-packages"))
import zones  # noqa: E402

table = json.loads(importlib.resources.files(zones).joinpath("table.json").read_text())
for place in sorted(table):
    print(place, zones.pay(table, place, 3))
