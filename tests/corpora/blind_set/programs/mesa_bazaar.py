"""A bazaar of mesa agents: traders with a trade and some gold, called up trade by trade."""

import mesa

TRADES = ("baker", "tanner", "weaver", "potter", "smith", "dyer")


class Trader(mesa.Agent):
    def __init__(self, model, trade):
        super().__init__(model)
        self.trade = trade
        self.gold = 10
        self.goods = 3

    def deal(self):
        """Buys from the neighbour who has most goods; the price falls as the day goes on."""
        if self.gold <= 0:
            return
        others = [agent for agent in self.model.agents if agent.trade != self.trade and agent.goods > 0]
        if not others:
            return
        seller = max(others, key=lambda agent: (agent.goods, -agent.unique_id))  # innocent
        price = max(1, 4 - self.model.deals // 5)
        self.gold -= price
        seller.gold += price
        seller.goods -= 1
        self.goods += 1
        self.model.deals += 1

    def work(self):
        self.goods += 1 if self.random.random() < 0.4 else 0


class Bazaar(mesa.Model):
    def __init__(self, run, people):
        super().__init__(rng=run.rng("bazaar"))
        run.streams.adopt("bazaar/python", self.random)
        self.deals = 0
        for k in range(people):
            Trader(self, TRADES[k % len(TRADES)])

    def trades(self):
        return {agent.trade for agent in self.agents}

    def market(self, festival):
        """On a festival each trade is called up by itself."""
        self.deals = 0
        if festival:
            for trade in self.trades():  # guilty
                self.agents.select(lambda agent, t=trade: agent.trade == t).do("deal")
        else:
            self.agents.shuffle_do("deal")  # innocent

    def day(self, tick):
        self.market(festival=tick % 10 == 6)
        self.agents.do("work")

    def state(self):
        return {"gold": [agent.gold for agent in self.agents], "goods": [agent.goods for agent in self.agents]}

    def restore(self, state):
        for agent, gold, goods in zip(self.agents, state["gold"], state["goods"], strict=True):
            agent.gold, agent.goods = gold, goods


def main(run):
    bazaar = run.track("bazaar", Bazaar(run, people=18))
    guild = run.track("guild", {"fees": 0.0, "trades": 0, "richest": 0})
    fees = run.rng("fees")
    for tick in run.ticks(30):
        bazaar.day(tick)
        guild["fees"] += round(0.1 * float(fees.random()), 3)
        guild["trades"] = len(bazaar.trades())  # innocent
        guild["richest"] = max(agent.gold for agent in bazaar.agents)  # innocent
