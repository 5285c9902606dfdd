"""Five calls at once on an event loop, and one that is cancelled."""

import asyncio
import json
import sys

import grpc.aio


def encode(value):
    return json.dumps(value).encode()


async def main():
    async with grpc.aio.insecure_channel(f"127.0.0.1:{sys.argv[1]}") as channel:
        quote = channel.unary_unary("/quotes.Quotes/Get", encode, json.loads)
        answers = await asyncio.gather(*(quote({"symbol": name}) for name in "abcde"))
        print(*(answer["price"] for answer in answers))
        watch = channel.unary_stream("/quotes.Quotes/Watch", encode, json.loads)({"symbol": "tin"})
        print((await watch.read())["price"])
        watch.cancel()


asyncio.run(main())
