"""A service of gRPC for client programs: one price, a stream of them, and a conversation."""

import json
import random
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import grpc

R = random.SystemRandom()


def get(asked: Any, context: Any) -> Any:
    context.set_trailing_metadata([("served", str(R.randint(1, 99)))])
    if asked["symbol"] == "nothing":
        context.abort(grpc.StatusCode.NOT_FOUND, "no such symbol")
    return {"price": R.random()}


def watch(asked: Any, context: Any) -> Iterator[Any]:
    del asked, context
    for number in range(5):
        yield {"number": number, "price": R.random()}


def trade(asked: Iterator[Any], context: Any) -> Iterator[Any]:
    del context
    for each in asked:
        yield {"symbol": each["symbol"], "price": R.random()}


def encode(value: Any) -> bytes:
    return json.dumps(value).encode()


FORMS = {"request_deserializer": json.loads, "response_serializer": encode}
METHODS = {
    "Get": grpc.unary_unary_rpc_method_handler(get, **FORMS),
    "Watch": grpc.unary_stream_rpc_method_handler(watch, **FORMS),
    "Trade": grpc.stream_stream_rpc_method_handler(trade, **FORMS),
}
server = grpc.server(ThreadPoolExecutor(4))
server.add_generic_rpc_handlers([grpc.method_handlers_generic_handler("quotes.Quotes", METHODS)])
print(server.add_insecure_port("127.0.0.1:0"), flush=True)
server.start()
server.wait_for_termination()
