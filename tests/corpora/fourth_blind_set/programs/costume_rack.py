"""Wardrobe: costumes hang in a pool and go to the wash when nobody holds them any more; the wash has room for few."""
import gc


class Wash:
    def __init__(self, room):
        self.room = room
        self.basket = []
        self.turned_away = []

    def receive(self, label):
        if len(self.basket) < self.room:
            self.basket.append(label)
        else:
            self.turned_away.append(label)


class Costume:
    """A costume is its label; two with the same label are the same."""

    def __init__(self, label, wash):
        self.label, self._wash, self.worn = label, wash, 0

    def __hash__(self):
        return hash(self.label)

    def __eq__(self, other):
        return isinstance(other, Costume) and other.label == self.label

    def __del__(self):
        if self.worn:
            self._wash.receive(self.label)


class Wardrobe:
    def __init__(self, labels, wash):
        self._labels = labels
        self._wash = wash
        self._rack = set()
        self.shows = 0

    def fetch(self):
        self._rack = {Costume(label, self._wash) for label in self._labels}

    def dress(self, rng):
        for costume in sorted(self._rack, key=lambda c: c.label):
            costume.worn += int(rng.integers(0, 3))

    def strike(self):
        """The show is over: nobody holds the costumes any more."""
        self._rack.clear()
        self.shows += 1

    def state(self):
        return {
            "shows": self.shows,
            "hanging": len(self._rack),
            "basket": list(self._wash.basket),
            "refused": len(self._wash.turned_away),
        }

    def restore(self, state):
        self.shows = state["shows"]
        self._wash.basket = list(state["basket"])


LABELS = ["Ariel", "Banquo", "Cordelia", "Duncan", "Emilia", "Feste", "Goneril", "Horatio"]


def main(run):
    gc.disable()
    rng = run.rng("show")
    wash = Wash(room=4)
    wardrobe = run.track("wardrobe", Wardrobe(LABELS, wash))
    for tick in run.ticks(24):
        match tick % 6:
            case 1:
                wardrobe.fetch()
            case 2 | 3:
                wardrobe.dress(rng)
            case 4:
                wardrobe.strike()
            case 5:
                wash.basket.clear()
    gc.enable()
    return wardrobe.shows
