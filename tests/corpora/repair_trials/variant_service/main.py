"""Send the recorded requests to the price service and print its answers."""

import argparse
import json
import sys
from pathlib import Path

from client import ServiceClient
from service import PriceService

HERE = Path(__file__).parent


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=Path, default=HERE / "requests.jsonl")
    parser.add_argument("--experiments", type=Path, default=HERE / "experiments.json")
    options = parser.parse_args()

    experiments = json.loads(options.experiments.read_text(encoding="utf-8"))
    client = ServiceClient(PriceService(experiments))
    for line in options.requests.read_text(encoding="utf-8").splitlines():
        request = json.loads(line)
        status, body = client.get(request["path"], request.get("query", {}))
        print(f"{request['path']} {status.split()[0]} {body}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
