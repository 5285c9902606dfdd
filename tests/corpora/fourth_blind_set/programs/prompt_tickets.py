"""Theatre prompt desk: cue requests queue by act, tied requests go by ticket; the last act prints tickets."""
import heapq
import uuid
from dataclasses import dataclass, field


@dataclass(order=True)
class Cue:
    act: int
    weight: int
    ticket: str = field(
        default_factory=lambda: uuid.uuid4().hex,
    )
    who: str = field(default="", compare=False)
    channel: str = field(default="light", compare=False)


class Desk:
    """Collects cues over the evening, and calls them act by act."""

    def __init__(self):
        self._heap = []
        self.called = 0
        self.levels = {"light": 0, "sound": 0, "fly": 0}
        self.sheet = []

    def request(self, cue):
        heapq.heappush(self._heap, cue)

    def call(self, act):
        """Call everything that belongs to the act so far."""
        while self._heap and self._heap[0].act <= act:
            cue = heapq.heappop(self._heap)
            self.called += 1
            self.levels[cue.channel] += cue.weight
            yield cue

    def state(self):
        return {"called": self.called, "levels": dict(self.levels), "sheet": list(self.sheet)}

    def restore(self, state):
        self.called, self.levels, self.sheet = state["called"], dict(state["levels"]), list(state["sheet"])


CREW = ["Ines", "Jarek", "Kofi", "Lotte"]


def rehearse(rng, desk, count):
    """Cues noted during the rehearsal, all acts mixed."""
    for i in range(count):
        desk.request(
            Cue(
                act=1 + i % 4,
                weight=int(rng.integers(1, 6)),
                who=CREW[int(rng.integers(len(CREW)))],
                channel=("light", "sound", "fly")[i % 3],
            )
        )


def act_of(tick):
    return 1 + tick // 6


def main(run):
    rng = run.rng("rehearsal")
    desk = run.track("desk", Desk())
    rehearse(rng, desk, 28)
    for tick in run.ticks(24):
        act = act_of(tick)
        if tick % 6 == 1:
            for cue in desk.call(act):
                if act == 4 and cue.weight >= 3:
                    desk.sheet.append(f"{cue.who}:{cue.ticket[:8]}")
        elif tick % 6 == 4:
            desk.levels = {name: max(0, level - 2) for name, level in desk.levels.items()}
    run.compare("called", desk.called)
    return desk.called
