"""An order service in one process: middleware, a context variable for the request, and a canary release."""
import asyncio
import contextvars
import uuid
from collections import Counter
from dataclasses import dataclass

request_id = contextvars.ContextVar("request_id", default=None)
CANARY_PERCENT = 40


@dataclass
class Order:
    customer: str
    items: int
    cents: int = 0


def with_request_id(handler):
    async def wrapped(order):
        token = request_id.set(uuid.uuid4())
        try:
            return await handler(order)
        finally:
            request_id.reset(token)

    return wrapped


def with_retries(count):
    def decorate(handler):
        async def wrapped(order):
            for attempt in range(count):
                try:
                    return await handler(order)
                except ConnectionError:
                    await asyncio.sleep(0)
            raise RuntimeError("gave up")

        return wrapped

    return decorate


class Pricing:
    """The old one rounds down, the new one gives a rebate for many items."""

    def __init__(self):
        self.flaky = 0

    def old(self, order):
        return order.items * 199

    def new(self, order):
        self.flaky += 1
        if self.flaky % 5 == 0:
            raise ConnectionError("pricing is restarting")
        return order.items * 199 - (order.items // 3) * 50

    def __call__(self, order):
        bucket = request_id.get().int % 100
        return self.new(order) if bucket < CANARY_PERCENT else self.old(order)


pricing = Pricing()
revenue = Counter()


@with_request_id
@with_retries(3)
async def handle(order):
    await asyncio.sleep(0)
    order.cents = pricing(order)
    revenue[order.customer] += order.cents
    return order


async def serve(orders):
    done = []
    for start in range(0, len(orders), 8):
        done += await asyncio.gather(*(handle(order) for order in orders[start : start + 8]))
    return done


orders = [Order(f"customer-{n % 5}", 1 + (n * 7) % 11) for n in range(64)]
done = asyncio.run(serve(orders))
print("orders:", len(done), "items:", sum(order.items for order in done))
for customer, cents in sorted(revenue.items()):
    print(f"{customer}: {cents / 100:.2f}")
