"""Orchard auction: lots are kept in sqlite, a few are drawn for tasting each day, good ones are sold at a better price."""
import sqlite3

VARIETIES = ["Annie Elizabeth", "Blenheim", "Costard", "Dumelow", "Ellison", "Flower of Kent", "Grenadier"]


class Store:
    """Lots in a table: variety, weight, sweetness, and the day they were sold."""

    def __init__(self):
        self._db = sqlite3.connect(":memory:")
        self._db.row_factory = sqlite3.Row
        self._db.execute("create table lot (id integer primary key, variety text, kilos int, brix real, sold int)")

    def add(self, variety, kilos, brix):
        self._db.execute("insert into lot (variety, kilos, brix) values (?, ?, ?)", (variety, kilos, brix))

    def count(self):
        return self._db.execute("select count(*) from lot where sold is null").fetchone()[0]

    def tasting(self, size):
        """A fair sample of what is left."""
        query = "select id, variety, kilos, brix from lot where sold is null order by random() limit ?"
        return self._db.execute(query, (size,)).fetchall()

    def sell(self, lot_id, day):
        self._db.execute("update lot set sold = ? where id = ?", (day, lot_id))


class Auction:
    def __init__(self, store):
        self._store = store
        self.revenue = 0.0
        self.left = 0
        self.sold = []

    def state(self):
        return {"revenue": round(self.revenue, 4), "left": self.left, "sold": list(self.sold[-4:])}

    def restore(self, state):
        self.revenue, self.left, self.sold = state["revenue"], state["left"], list(state["sold"])

    def price(self, lot):
        bonus = 1.0 + max(0.0, lot["brix"] - 11.0) * 0.08
        return lot["kilos"] * 0.9 * bonus

    def day(self, day):
        for lot in self._store.tasting(3):
            if lot["brix"] < 9.0:
                continue
            self.revenue += self.price(lot)
            self.sold.append(lot["id"])
            self._store.sell(lot["id"], day)
        self.left = self._store.count()


def harvest(rng):
    for _ in range(6):
        variety = VARIETIES[int(rng.integers(len(VARIETIES)))]
        yield variety, int(rng.integers(20, 90)), round(float(rng.normal(11.0, 1.5)), 2)


def main(run):
    rng = run.rng("harvest")
    store = Store()
    auction = run.track("auction", Auction(store))
    for tick in run.ticks(20):
        for lot in harvest(rng):
            store.add(*lot)
        auction.left = store.count()
        if tick >= 6:
            auction.day(tick)
    run.compare("ticks", 20)
    return len(auction.sold)
