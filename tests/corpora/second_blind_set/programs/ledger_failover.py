"""A settlement engine with a hot standby: at failover, the standby goes on from the last snapshot."""

import os
import pickle

FAILOVER = int(os.environ.get("FAILOVER_AT", "-1"))


class Account:
    def __init__(self, number):
        self.number = number
        self.balance = 1000
        self.holds = []

    def available(self):
        return self.balance - sum(amount for amount, _ in self.holds)

    def hold(self, amount, until):
        if self.available() >= amount:
            self.holds.append((amount, until))
            return True
        return False

    def release(self, now):
        due = [amount for amount, until in self.holds if until <= now]
        self.holds = [hold for hold in self.holds if hold[1] > now]
        self.balance -= sum(due)


class Engine:
    def __init__(self, accounts):
        self.accounts = accounts
        self.refused = 0

    @classmethod
    def fresh(cls, count):
        return cls([Account(number) for number in range(count)])

    def authorise(self, number, amount, until):
        if not self.accounts[number].hold(amount, until):
            self.refused += 1

    def settle(self, now):
        for account in self.accounts:
            account.release(now)

    def state(self):
        return {"balances": [account.balance for account in self.accounts], "refused": self.refused}

    def restore(self, state):
        self.refused = state["refused"]
        for account, balance in zip(self.accounts, state["balances"], strict=True):
            account.balance = balance


class Pair:
    """The engine that serves, and how another takes over."""

    def __init__(self, engine):
        self.engine = engine
        self.wire = b""

    def replicate(self):
        self.wire = pickle.dumps(self.engine.state())

    def fail_over(self):
        standby = Engine.fresh(len(self.engine.accounts))
        standby.restore(pickle.loads(self.wire))
        self.engine = standby

    def state(self):
        return self.engine.state()

    def restore(self, state):
        self.engine.restore(state)


def main(run):
    pair = run.track("pair", Pair(Engine.fresh(6)))
    shop = run.rng("shop")
    for tick in run.ticks(60):
        if tick < 20:
            pair.engine.authorise(int(shop.integers(6)), int(shop.integers(20, 200)), until=tick + 25)
        pair.engine.settle(tick)
        pair.replicate()
        if tick == FAILOVER:
            pair.fail_over()
