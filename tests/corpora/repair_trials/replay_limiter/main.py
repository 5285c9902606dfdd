"""Replay a recorded log against the receipt service and print its answers."""

import argparse
import asyncio
import json
import sys
from pathlib import Path

from service import ReceiptService

HERE = Path(__file__).parent


async def replay(requests: list[dict], settings: dict) -> list[str]:
    """Start the service, send it the requests in order, and return the answers."""
    service = ReceiptService(settings)
    server = await asyncio.start_server(service.serve, "127.0.0.1", 0)
    reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
    answers = []
    for request in requests:
        writer.write(json.dumps(request).encode() + b"\n")
        await writer.drain()
        answers.append((await reader.readline()).decode().rstrip())
    writer.close()
    await writer.wait_closed()
    server.close()
    await server.wait_closed()
    return answers


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--log", type=Path, default=HERE / "requests.jsonl")
    parser.add_argument("--settings", type=Path, default=HERE / "settings.json")
    options = parser.parse_args()
    settings = json.loads(options.settings.read_text(encoding="utf-8"))
    requests = [json.loads(line) for line in options.log.read_text("utf-8").splitlines()]

    answers = asyncio.run(replay(requests, settings))
    for request, answer in zip(requests, answers):
        print(f"{request['number']:03} {request['client']:7} {answer}")
    refused = sum(answer.startswith("429") for answer in answers)
    print(f"{len(answers)} answers, {refused} refused")
    return 0


if __name__ == "__main__":
    sys.exit(main())
