"""Calls of a service one by one: metadata, a deadline, and an error with its code."""

import json
import sys

import grpc


def encode(value):
    return json.dumps(value).encode()


with grpc.insecure_channel(f"127.0.0.1:{sys.argv[1]}") as channel:
    quote = channel.unary_unary("/quotes.Quotes/Get", encode, json.loads)
    for symbol in ("tin", "wool", "nothing", "salt"):
        try:
            answer, call = quote.with_call(
                {"symbol": symbol}, timeout=5, metadata=[("client", "a")]
            )
            print(symbol, answer["price"], dict(call.trailing_metadata()).get("served"))
        except grpc.RpcError as error:
            print(symbol, error.code().name, error.details())
