"""Wardrobe count: costumes are grouped and counted in sets; only totals and sorted lists leave here."""
from collections import Counter
from dataclasses import dataclass, field

KINDS = ["cloak", "doublet", "gown", "bonnet", "boots", "mask", "sash", "ruff"]
PENCE = {"cloak": 1250, "doublet": 900, "gown": 2100, "bonnet": 300, "boots": 1100, "mask": 450,
         "sash": 150, "ruff": 275}


@dataclass(frozen=True)
class Costume:
    kind: str
    show: str
    number: int


@dataclass
class Wardrobe:
    rail: set = field(default_factory=set)
    out: set = field(default_factory=set)
    value: int = 0
    missing: dict = field(default_factory=dict)

    def receive(self, costume):
        self.rail.add(costume)

    def lend(self, wanted):
        """All costumes of one kind go out together."""
        leaving = {c for c in self.rail if c.kind == wanted}
        self.rail -= leaving
        self.out |= leaving
        return leaving

    def recall(self, show):
        back = {c for c in self.out if c.show == show}
        self.out -= back
        self.rail |= back

    def count(self):
        total = 0
        for costume in self.rail:
            total += PENCE[costume.kind]
        self.value = total
        self.missing = Counter()
        for costume in self.out:
            self.missing[costume.show] += 1

    def shows(self):
        return sorted({c.show for c in self.rail | self.out})

    def state(self):
        return {"value": self.value, "rail": len(self.rail), "out": len(self.out),
                "missing": {show: self.missing[show] for show in sorted(self.missing)},
                "shows": self.shows()}

    def restore(self, state):
        self.value, self.missing = state["value"], dict(state["missing"])


def deliveries(rng, tick):
    for number in range(int(rng.integers(1, 6))):
        kind = KINDS[int(rng.integers(len(KINDS)))]
        show = ("Macbeth", "Faust", "Carmen")[int(rng.integers(3))]
        yield Costume(kind, show, tick * 10 + number)


def main(run):
    rng = run.rng("carriers")
    wardrobe = Wardrobe()
    run.track("wardrobe", wardrobe)
    for tick in run.ticks(18):
        for costume in deliveries(rng, tick):
            wardrobe.receive(costume)
        if tick % 3 == 1:
            wardrobe.lend(KINDS[tick % len(KINDS)])
        elif tick % 5 == 4:
            wardrobe.recall(wardrobe.shows()[0])
        wardrobe.count()
        run.compare("dearest", max((PENCE[c.kind] for c in wardrobe.rail), default=0))
    return wardrobe.value
