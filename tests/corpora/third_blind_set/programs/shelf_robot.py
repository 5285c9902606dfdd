"""A warehouse robot: orders name articles, articles lie in bins, the robot fetches what is wanted."""

ARTICLES = ["anvil", "bucket", "candle", "drill", "easel", "funnel", "gasket", "hinge", "inkpot", "jigsaw", "kettle",
            "ladle", "mallet", "nozzle", "oilcan", "pliers"]
SHARDS = 4


class Stock:
    """Counts of articles, spread over shards as the database spreads them."""

    def __init__(self, rng):
        self.shards = [{} for _ in range(SHARDS)]
        for name in ARTICLES:
            self.shard(name)[name] = int(rng.integers(5, 15))

    def shard(self, name):
        return self.shards[hash(name) % SHARDS]

    def take(self, name):
        shard = self.shard(name)
        if shard[name]:
            shard[name] -= 1
            return True
        return False

    def refill(self, names, amount):
        for name in names:
            self.shard(name)[name] += amount

    def total(self):
        return sum(count for shard in self.shards for count in shard.values())

    def merged(self):
        merged = {}
        for shard in self.shards:
            merged.update(shard)
        return merged


class Robot:
    def __init__(self, stock):
        self.stock = stock
        self.wanted = set()
        self.short = set()
        self.metres = 0
        self.log = []
        self.picked = 0

    def order(self, names):
        self.wanted |= set(names)

    def tour(self):
        """One way along the shelves, from left to right, whatever the list says."""
        places = {ARTICLES.index(name) for name in self.wanted}
        self.metres += 2 * max(places) if places else 0
        while self.wanted:
            name = self.wanted.pop()
            if self.stock.take(name):
                self.picked += 1
                self.log.append(name)
            else:
                self.short.add(name)

    def batch(self):
        batch, self.log = self.log, []
        heaviest = max(batch, key=lambda name: (len(name), name), default="")
        return heaviest, sum(len(name) for name in batch)


class Ledger:
    def __init__(self):
        self.rows = []
        self.weight = 0
        self.stock = {}
        self.left = 0

    def state(self):
        return {"rows": list(self.rows), "weight": self.weight, "stock": dict(self.stock), "left": self.left}

    def restore(self, state):
        self.rows, self.weight = list(state["rows"]), state["weight"]
        self.stock, self.left = dict(state["stock"]), state["left"]


def main(run):
    stock = Stock(run.rng("stock"))
    orders = run.rng("orders")
    lorry = run.rng("lorry")
    robot = Robot(stock)
    ledger = run.track("ledger", Ledger())
    for tick in run.ticks(30):
        for _ in range(3):
            robot.order(ARTICLES[int(i)] for i in orders.choice(len(ARTICLES), size=4, replace=False))
        robot.tour()
        heaviest, weight = robot.batch()
        ledger.rows.append((tick, heaviest, robot.metres))
        ledger.weight += weight
        if robot.short and lorry.random() < 0.5:
            stock.refill(robot.short, int(lorry.integers(3, 9)))
            robot.short.clear()
        ledger.stock = stock.merged()
        ledger.left = stock.total()
