"""A town of guilds: workshops order material, wares are sold at the fair. The world can be saved and loaded again."""

import os
import zlib

from pydantic import BaseModel, Field, PrivateAttr


class Workshop(BaseModel):
    craft: str
    masters: int = 2
    material: float = 12.0
    wares: float = 0.0
    purse: float = 60.0
    _carts: list = PrivateAttr(default_factory=list)

    def order(self, amount, arrives):
        self.purse -= 0.8 * amount
        self._carts.append((arrives, amount))

    def receive(self, tick):
        for arrives, amount in self._carts:
            if arrives == tick:
                self.material += amount
        self._carts = [cart for cart in self._carts if cart[0] > tick]

    def work(self, skill):
        used = min(self.material, 0.5 * self.masters)
        self.material -= used
        self.wares += used * skill


class Town(BaseModel):
    workshops: dict[str, Workshop] = Field(default_factory=dict)
    prices: dict[str, float] = Field(default_factory=dict)
    fashion: float = 1.0
    month: int = 0
    sold: float = 0.0

    @classmethod
    def found(cls, crafts):
        return cls(workshops={craft: Workshop(craft=craft, masters=1 + zlib.crc32(craft.encode()) % 3) for craft in crafts},
                   prices={craft: 3.0 for craft in crafts})

    def season(self, tick):
        """In spring and in autumn carts are sent for; the way is long."""
        for craft, workshop in self.workshops.items():
            if tick in (6, 21):
                workshop.order(10.0 + len(craft), tick + 8 + len(craft) % 3)
            workshop.receive(tick)

    def fair(self, taste):
        self.fashion = 0.9 * self.fashion + 0.1 * (1.0 + 0.2 * float(taste.normal()))
        for craft in sorted(self.workshops):
            workshop = self.workshops[craft]
            amount = min(workshop.wares, 2.0 * self.fashion)
            workshop.wares -= amount
            workshop.purse += amount * self.prices[craft]
            self.sold += amount
            self.prices[craft] *= 1.01 if amount < 1.0 else 0.995


class Keeper:
    """Holds the town of a game that may be put away and taken up again."""

    def __init__(self, town, taste, skill):
        self.town, self.taste, self.skill = town, taste, skill
        self.pause = int(os.environ.get("GUILD_PAUSE", "0"))

    def reload(self):
        text = self.town.model_dump_json()
        self.town = Town.model_validate_json(text)

    def step(self, tick):
        if self.pause and tick == self.pause:
            self.reload()
        self.town.month = tick % 12
        self.town.season(tick)
        for workshop in self.town.workshops.values():
            workshop.work(0.8 + 0.4 * float(self.skill.random()))
        self.town.fair(self.taste)

    def state(self):
        return {
            "wares": {craft: shop.wares for craft, shop in self.town.workshops.items()},
            "material": {craft: shop.material for craft, shop in self.town.workshops.items()},
            "purse": {craft: shop.purse for craft, shop in self.town.workshops.items()},
            "prices": dict(self.town.prices), "sold": self.town.sold, "fashion": self.town.fashion,
        }

    def restore(self, state):
        for name in ("wares", "material", "purse"):
            for craft, value in state[name].items():
                setattr(self.town.workshops[craft], name, value)
        self.town.prices, self.town.sold, self.town.fashion = dict(state["prices"]), state["sold"], state["fashion"]


def main(run):
    town = Town.found(["cooper", "dyer", "glover", "potter", "saddler", "weaver"])
    keeper = run.track("keeper", Keeper(town, run.rng("taste"), run.rng("skill")))
    for tick in run.ticks(36):
        keeper.step(tick)
