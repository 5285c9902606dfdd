"""Truffle lots get a token from the system; the auction walks lots in token order and the bidders' purses shrink."""
import secrets


class Lot:
    def __init__(self, grams):
        self.grams = grams
        self.token = secrets.token_hex(6)

    def __lt__(self, other):
        return self.token < other.token


class Bidder:
    def __init__(self, purse):
        self.purse = purse
        self.won = 0

    def bid(self, lot):
        return min(self.purse, lot.grams * 3)


class Auction:
    def __init__(self, bidders):
        self.bidders = bidders
        self.sold = 0

    def sell(self, lot):
        best = max(self.bidders, key=lambda b: b.bid(lot))
        best.purse -= best.bid(lot)
        best.won += lot.grams
        self.sold += 1

    def state(self):
        return {"purses": [b.purse for b in self.bidders], "won": [b.won for b in self.bidders], "sold": self.sold}

    def restore(self, state):
        self.sold = state["sold"]
        for bidder, purse, won in zip(self.bidders, state["purses"], state["won"]):
            bidder.purse, bidder.won = purse, won


def main(run):
    rng = run.rng("lots")
    lots = [Lot(int(rng.integers(20, 300))) for _ in range(20)]
    auction = run.track("auction", Auction([Bidder(int(rng.integers(3000, 9000))) for _ in range(4)]))
    for tick in run.ticks(24):
        if tick < 4:
            continue
        lots.sort()
        auction.sell(lots.pop(0))
    return auction.sold
