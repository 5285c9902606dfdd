"""The last line that a program prints: its answer, found among what Blender prints."""

from __future__ import annotations

import json
import os
import sys
from typing import Any


def request() -> Any:
    return json.loads(sys.argv[1])


def answer(value: object) -> None:
    print(f"\nANSWER {json.dumps(value)}", flush=True)
    os._exit(0)  # Blender takes its time to go
