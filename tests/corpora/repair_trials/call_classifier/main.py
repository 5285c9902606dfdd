"""Train a small network that tells the calls of four birds apart."""

import argparse
import json
import random
import sys
import time
from pathlib import Path

import numpy as np

from training import train

HERE = Path(__file__).parent


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--settings", type=Path, default=HERE / "settings.json")
    options = parser.parse_args()
    settings = json.loads(options.settings.read_text(encoding="utf-8"))
    random.seed(settings["seed"])
    begun = time.perf_counter()

    result = train(settings)
    for epoch, loss in enumerate(result.losses, start=1):
        print(f"epoch {epoch} loss {loss:.10f}")
    print(f"accuracy {result.accuracy:.4f}")
    print(f"weights {float(np.abs(result.model.weights_in).sum()):.10f}")
    print(f"trained in {time.perf_counter() - begun:.2f} s", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
