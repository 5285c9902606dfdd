"""Insurance claims in an in-memory database: intake, assignment to adjusters, payments."""

import duckdb

PERILS = {"hail", "flood", "fire", "theft", "storm", "glass", "frost"}
ADJUSTERS = ["Ines", "Jorn", "Kaja"]


class Register:
    def __init__(self):
        self.db = duckdb.connect(":memory:", config={"threads": 1})
        self.db.execute("create table claims (number integer, peril varchar, amount integer, adjuster varchar)")
        self.number = 0

    def intake(self, batch):
        """Claims by peril, as the mail room sorts them."""
        for peril, amounts in batch:
            for amount in amounts:
                self.number += 1
                self.db.execute("insert into claims values (?, ?, ?, null)", [self.number, peril, amount])

    def assign(self, adjuster, count):
        rows = self.db.execute("select number from claims where adjuster is null limit ?", [count]).fetchall()
        for (number,) in rows:
            self.db.execute("update claims set adjuster = ? where number = ?", [adjuster, number])

    def paid(self, adjuster):
        query = "select coalesce(sum(amount), 0)::bigint from claims where adjuster = ?"
        return self.db.execute(query, [adjuster]).fetchone()[0]


class MailRoom:
    """Collects letters; each peril has a tray."""

    def __init__(self, rng):
        self.rng = rng
        self.trays = {peril: [] for peril in sorted(PERILS)}

    def post(self):
        for peril in sorted(PERILS)[: int(self.rng.integers(3, 8))]:
            self.trays[peril].append(int(self.rng.integers(100, 5000)))

    def empty(self):
        full = {peril for peril, tray in self.trays.items() if tray}
        batch = [(peril, self.trays[peril]) for peril in full]
        self.trays = {peril: [] for peril in self.trays}
        return batch


class Office:
    def __init__(self, register):
        self.register = register
        self.payments = {name: 0 for name in ADJUSTERS}

    def work(self, day):
        name = ADJUSTERS[day % len(ADJUSTERS)]
        self.register.assign(name, 3)
        self.payments[name] = self.register.paid(name)

    def state(self):
        return {"payments": dict(self.payments), "claims": self.register.number}

    def restore(self, state):
        self.payments = dict(state["payments"])


def main(run):
    register = Register()
    office = run.track("office", Office(register))
    mail = MailRoom(run.rng("mail"))
    for day in run.ticks(30):
        mail.post()
        if day % 5 == 4:
            register.intake(mail.empty())
        if day >= 12:
            office.work(day)
