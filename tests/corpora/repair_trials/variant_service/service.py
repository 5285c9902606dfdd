"""The price service: a WSGI application."""

import json
import random
import sys
import time
from urllib.parse import parse_qs

from experiments import read_experiments

PRICES = {"ferry-pass": 4800, "bike-week": 9500, "locker": 1200, "guide-book": 2650}
CURRENCIES = {"EUR", "DKK", "SEK"}


class PriceService:
    """Answers ``/price?product=...&customer=...`` with a price in cents."""

    def __init__(self, experiments: list[dict]) -> None:
        self._experiments = read_experiments(experiments)
        self._trace = random.Random(2024)

    def __call__(self, environ, start_response):
        begun = time.perf_counter()
        query = {key: values[0] for key, values in parse_qs(environ["QUERY_STRING"]).items()}
        status, document = self._answer(environ["PATH_INFO"], query)
        document["trace"] = f"{self._trace.getrandbits(32):08x}"
        body = json.dumps(document, sort_keys=True).encode()
        headers = [("Content-Type", "application/json"), ("Content-Length", str(len(body)))]
        start_response(status, headers)
        print(f"{status} in {time.perf_counter() - begun:.6f} s", file=sys.stderr)
        return [body]

    def _answer(self, path: str, query: dict[str, str]) -> tuple[str, dict]:
        if path == "/currencies":
            return "200 OK", {"currencies": sorted(CURRENCIES)}
        if path != "/price":
            return "404 Not Found", {"error": "no such page"}
        product, customer = query.get("product", ""), query.get("customer", "")
        if product not in PRICES or not customer:
            return "400 Bad Request", {"error": "product and customer are needed"}
        price = PRICES[product]
        experiment = self._experiments.get(product)
        if experiment is None:
            return "200 OK", {"product": product, "cents": price, "variant": "none"}
        variant = experiment.variant_for(customer)
        cents = round(price * (1 - experiment.discounts[variant]))
        return "200 OK", {"product": product, "cents": cents, "variant": variant}
