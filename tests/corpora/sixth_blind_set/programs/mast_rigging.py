"""Rigging check: lines are looked up by name, wear is tracked per line, and a memo keyed on objects saves some sums."""
import weakref

LINES = ["halyard", "sheet", "shroud", "backstay", "forestay", "topping lift", "downhaul", "vang", "brace", "clew line"]


class Line:
    def __init__(self, name, strength):
        self.name, self.strength = name, strength
        self.wear = 0.0

    def load(self, wind):
        self.wear = round(self.wear + wind * wind / (40.0 * self.strength), 5)


class Rig:
    def __init__(self, names):
        wanted = {name for name in names if name}
        self.lines = {name: Line(name, 3 + len(name) % 5) for name in wanted}
        self.alive = weakref.WeakSet(self.lines.values())
        self.memo = {}
        self.spliced = 0

    def factor(self, line):
        """Memo keyed on the object's address: looked up, never listed."""
        key = id(line)
        if key not in self.memo:
            self.memo[key] = 1.0 + (len(line.name) * 7 % 10) / 20
        return self.memo[key]

    def blow(self, wind):
        for line in self.lines.values():
            line.load(wind * self.factor(line))

    def inspect(self, limit):
        worn = {line for line in self.alive if line.wear > limit}
        for line in worn:
            line.wear = 0.0
            self.spliced += 1
        return len(worn)

    def state(self):
        return {"wear": {name: self.lines[name].wear for name in LINES}, "spliced": self.spliced}

    def restore(self, state):
        for name, wear in state["wear"].items():
            self.lines[name].wear = wear
        self.spliced = state["spliced"]


class Bosun:
    def __init__(self, rig):
        self.rig = rig
        self.rope = 120

    def round(self, tick):
        if tick % 3 == 2:
            self.rope -= 4 * self.rig.inspect(limit=2.0)


def main(run):
    rng = run.rng("wind")
    rig = run.track("rig", Rig(LINES))
    bosun = Bosun(rig)
    locker = run.track("locker", {"rope": bosun.rope, "gusts": 0})
    for tick in run.ticks(24):
        wind = 6.0 + float(rng.gamma(2.0, 2.0))
        locker["gusts"] += wind > 12
        rig.blow(wind)
        bosun.round(tick)
        locker["rope"] = bosun.rope
    longest = max(rig.lines, key=lambda name: (len(name), name))
    return {"spliced": rig.spliced, "longest": longest}
