"""A matching engine: orders rest in two heaps, by price and then by order number."""

import heapq
import random
import uuid


class Order:
    def __init__(self, trader, side, price, size):
        self.trader = trader
        self.side = side
        self.price = price
        self.size = size
        self.key = uuid.uuid4()  # guilty

    def __lt__(self, other):
        mine = -self.price if self.side == "buy" else self.price
        theirs = -other.price if other.side == "buy" else other.price
        return (mine, self.key) < (theirs, other.key)  # innocent


class Book:
    def __init__(self):
        self.buys, self.sells = [], []
        self.trades = []

    def rest(self, order):
        heapq.heappush(self.buys if order.side == "buy" else self.sells, order)

    def match(self):
        """Trades as long as the best buyer pays what the best seller asks."""
        while self.buys and self.sells and self.buys[0].price >= self.sells[0].price:
            buy, sell = self.buys[0], self.sells[0]
            size = min(buy.size, sell.size)
            self.trades.append((buy.trader, sell.trader, size, sell.price))
            buy.size -= size
            sell.size -= size
            for heap, order in ((self.buys, buy), (self.sells, sell)):
                if not order.size:
                    heapq.heappop(heap)


def quote(rng, mid, k):
    side = "buy" if rng.random() < 0.5 else "sell"
    away = 1 + k % 3
    return side, mid - away if side == "buy" else mid + away


def main():
    rng, mids = random.Random(8), random.Random(9)
    names = {"ann", "bob", "cat", "dan", "eve", "fox", "gus"}
    traders = sorted(names)  # innocent
    book = Book()
    mid = 100
    for k in range(60):
        side, price = quote(rng, mid, k)
        book.rest(Order(traders[k % len(traders)], side, price, rng.randrange(1, 6)))
        if k % 15 == 14:
            print(f"{k + 1} orders, depth {len(book.buys)}/{len(book.sells)}, mid {mid}")
    print("best", book.buys[0].price, book.sells[0].price)
    for minute in range(8):
        mid += mids.choice((-1, 1))
        price = 100 + (minute % 3) - 1
        book.rest(Order(f"fund{minute}", "sell" if minute % 2 else "buy", price + (-4 if minute % 2 else 4), 11))
        book.match()
        print(f"minute {minute}: trades {len(book.trades)}, volume {sum(t[2] for t in book.trades)}")
    filled = {name: 0 for name in traders}  # innocent
    for buyer, seller, size, _ in book.trades:
        for name in (buyer, seller):
            if name in filled:
                filled[name] += size
    print("filled", " ".join(f"{name}={filled[name]}" for name in traders))


if __name__ == "__main__":
    main()
