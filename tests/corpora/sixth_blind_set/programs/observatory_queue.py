"""Observatory scheduler: requests collect by day; at dusk the best are sorted into the night's plan and taken."""
import uuid
from collections import Counter
from dataclasses import dataclass, field
from operator import attrgetter

DUSK = 12
OBJECTS = ["M31", "M42", "M13", "M57", "M81", "M101", "M104", "M51"]


@dataclass
class Request:
    target: str
    merit: int
    minutes: int
    ref: str = field(
        default_factory=lambda: uuid.uuid4().hex[:12]
    )


@dataclass
class Plan:
    backlog: list = field(default_factory=list)
    tonight: list = field(default_factory=list)
    done: Counter = field(default_factory=Counter)
    minutes: int = 0

    def ask(self, request):
        self.backlog.append(request)

    def dusk(self):
        """Highest merit first; the reference settles ties so that the plan is stable."""
        self.backlog.sort(key=attrgetter("ref"))
        self.backlog.sort(key=attrgetter("merit"), reverse=True)
        self.tonight, self.backlog = self.backlog[:20], self.backlog[20:]

    def observe(self, budget):
        while self.tonight and self.tonight[0].minutes <= budget:
            request = self.tonight.pop(0)
            budget -= request.minutes
            self.minutes += request.minutes
            self.done[request.target] += 1

    def state(self):
        return {
            "backlog": len(self.backlog),
            "tonight": len(self.tonight),
            "next": [request.target for request in self.tonight[:8]],
            "minutes": self.minutes,
            "done": {name: self.done[name] for name in OBJECTS},
        }

    def restore(self, state):
        self.minutes = state["minutes"]
        self.done = Counter(state["done"])


def astronomers(rnd, tick):
    for _ in range(rnd.randint(2, 5)):
        yield Request(rnd.choice(OBJECTS), rnd.choice([1, 2, 2, 3]), rnd.choice([10, 15, 20, 25, 40]))


def main(run):
    rnd = run.streams.python("requests")
    plan = run.track("plan", Plan())
    weather = run.track("weather", {"cloud": 0.2})
    for tick in run.ticks(26):
        hour = tick % 24
        weather["cloud"] = round(min(1.0, max(0.0, weather["cloud"] + rnd.uniform(-0.1, 0.1))), 4)
        if hour < DUSK:
            for request in astronomers(rnd, tick):
                plan.ask(request)
        elif hour == DUSK:
            plan.dusk()
        else:
            plan.observe(int(60 * (1 - weather["cloud"])))
    return {"left": len(plan.backlog)}
