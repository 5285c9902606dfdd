"""A stream of prices, then a conversation in both directions."""

import json
import sys

import grpc


def encode(value):
    return json.dumps(value).encode()


with grpc.insecure_channel(f"127.0.0.1:{sys.argv[1]}") as channel:
    watch = channel.unary_stream("/quotes.Quotes/Watch", encode, json.loads)
    for answer in watch({"symbol": "tin"}):
        print(answer["number"], answer["price"])
    trade = channel.stream_stream("/quotes.Quotes/Trade", encode, json.loads)
    for answer in trade({"symbol": name} for name in ("tin", "wool", "salt")):
        print(answer["symbol"], answer["price"])
