"""A bazaar as a Mesa model: traders haggle, wander and go broke."""

import mesa

GUILDS = {"smiths", "weavers", "bakers", "tanners", "potters", "dyers", "masons"}
LEVY = {"smiths": 5, "weavers": 3, "bakers": 2, "tanners": 4, "potters": 1, "dyers": 6, "masons": 7}


class Trader(mesa.Agent):
    def __init__(self, model, guild, purse):
        super().__init__(model)
        self.guild = guild
        self.purse = purse
        self.stock = 10

    def haggle(self):
        partner = self.random.choice(self.model.order)
        if partner is self or self.stock == 0:
            return
        price = 1 + (LEVY[self.guild] * partner.stock) % 4
        if partner.purse >= price:
            partner.purse -= price
            partner.stock += 1
            self.purse += price
            self.stock -= 1


class Bazaar(mesa.Model):
    def __init__(self, run):
        super().__init__(rng=run.rng("bazaar"))
        run.streams.adopt("bazaar/python", self.random)
        self.treasury = 0
        for guild in sorted(GUILDS):
            for rank in range(2):
                Trader(self, guild, 20 + 5 * rank)
        self.order = list(self.agents)

    def day(self):
        for trader in self.random.sample(self.order, k=len(self.order)):
            trader.haggle()

    def audit(self):
        """Once a week the guilds pay, as long as the collector can carry the coins."""
        carried = 0
        for guild in GUILDS & {trader.guild for trader in self.order if trader.purse > 3}:
            if carried > 14:
                break
            members = [trader for trader in self.order if trader.guild == guild and trader.purse >= LEVY[guild]]
            for trader in members:
                trader.purse -= LEVY[guild]
                carried += LEVY[guild]
        self.treasury += carried

    def state(self):
        return {
            "treasury": self.treasury,
            "traders": [(trader.guild, trader.purse, trader.stock) for trader in self.order],
        }

    def restore(self, state):
        self.treasury = state["treasury"]
        for trader, (_, purse, stock) in zip(self.order, state["traders"], strict=True):
            trader.purse, trader.stock = purse, stock


def main(run):
    bazaar = run.track("bazaar", Bazaar(run))
    for day in run.ticks(28):
        bazaar.day()
        if day % 7 == 6:
            bazaar.audit()
