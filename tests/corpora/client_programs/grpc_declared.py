"""gRPC in declared effects: what the service answered is recorded, and no channel is opened in a replay."""

import json
import sys

import grpc

import twice


def encode(value):
    return json.dumps(value).encode()


@twice.effect
def price(symbol):
    with grpc.insecure_channel(f"127.0.0.1:{sys.argv[1]}") as channel:
        quote = channel.unary_unary("/quotes.Quotes/Get", encode, json.loads)
        return quote({"symbol": symbol}, timeout=10)["price"]


@twice.effect
def prices():
    with grpc.insecure_channel(f"127.0.0.1:{sys.argv[1]}") as channel:
        watch = channel.unary_stream("/quotes.Quotes/Watch", encode, json.loads)
        return list(watch({"symbol": "tin"}))


for name in ("tin", "wool", "salt"):
    print(name, price(name))
for told in prices():
    print(told)
