"""Hospital pantry: delivery notes arrive as files in a spool folder, are loaded into sqlite and issued ward by ward."""
import json
import os
import sqlite3
import tempfile

GOODS = ["broth", "custard", "eggs", "fennel", "ginger", "honey", "juniper"]


class Spool:
    """A folder into which suppliers drop one note for each delivery."""

    def __init__(self, root):
        self.root = root

    def drop(self, rng, tick):
        for k in range(4):
            name = f"{GOODS[(tick * 3 + k * 2) % len(GOODS)]}-{tick:02d}{k}.json"
            with open(os.path.join(self.root, name), "w", encoding="utf-8") as note:
                json.dump({"goods": name.split("-")[0], "amount": int(rng.integers(3, 12))}, note)

    def collect(self):
        for name in os.listdir(self.root):
            path = os.path.join(self.root, name)
            with open(path, encoding="utf-8") as note:
                yield json.load(note)
            os.unlink(path)


class Ledger:
    def __init__(self):
        self._db = sqlite3.connect(":memory:")
        self._db.execute("create table stock (goods text, amount integer, issued integer default 0)")
        self.issued = []
        self.total = 0

    def load(self, notes):
        self._db.executemany("insert into stock (goods, amount) values (:goods, :amount)", notes)
        (self.total,) = self._db.execute("select coalesce(sum(amount), 0) from stock where issued = 0").fetchone()

    def issue(self, wanted):
        """First in, first out: take whole deliveries until the ward has enough."""
        rows = self._db.execute("select rowid, goods, amount from stock where issued = 0").fetchall()
        for rowid, goods, amount in rows:
            if wanted <= 0:
                break
            wanted -= amount
            self._db.execute("update stock set issued = 1 where rowid = ?", (rowid,))
            self.issued.append([goods, amount])
        (self.total,) = self._db.execute("select coalesce(sum(amount), 0) from stock where issued = 0").fetchone()

    def state(self):
        return {"issued": self.issued[-5:], "total": self.total}

    def restore(self, state):
        self.issued, self.total = list(state["issued"]), state["total"]


def main(run):
    rng = run.rng("suppliers")
    wards = run.rng("wards")
    ledger = run.track("ledger", Ledger())
    with tempfile.TemporaryDirectory(prefix="pantry-") as root:
        spool = Spool(root)
        for tick in run.ticks(14):
            if tick % 2 == 0:
                spool.drop(rng, tick)
            else:
                ledger.load(spool.collect())
            if tick >= 4:
                ledger.issue(int(wards.integers(6, 14)))
    return ledger.total
