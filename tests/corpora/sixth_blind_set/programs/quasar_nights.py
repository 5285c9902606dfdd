"""Night log reducer: exposures are queued for the pipeline and grouped by observing night when a batch is complete."""
import heapq
from collections import defaultdict
from dataclasses import dataclass, field
from datetime import datetime, timedelta

EPOCH = 1_700_000_000
BATCH = 40


@dataclass(order=True)
class Exposure:
    due: int
    frame: int
    epoch: int = field(compare=False)
    flux: float = field(compare=False)
    night: str = field(compare=False, default="")

    def __post_init__(self):
        if not self.night:
            self.night = night_of(self.epoch)


def night_of(epoch):
    """A night belongs to the date on which it begins, noon to noon."""
    started = datetime.fromtimestamp(epoch)
    return (started - timedelta(hours=12)).strftime("%Y%m%d")


class Pipeline:
    def __init__(self):
        self.heap = []
        self.batch = []
        self.nights = {}
        self.reduced = 0

    def submit(self, exposure):
        heapq.heappush(self.heap, exposure)

    def advance(self, now):
        while self.heap and self.heap[0].due <= now:
            self.batch.append(heapq.heappop(self.heap))
            if len(self.batch) == BATCH:
                self.reduce()

    def reduce(self):
        groups = defaultdict(list)
        for e in self.batch:
            groups[e.night].append(e.flux)
        for night, fluxes in sorted(groups.items()):
            count, mean = self.nights.get(night, (0, 0.0))
            total = count + len(fluxes)
            self.nights[night] = (total, round((mean * count + sum(fluxes)) / total, 5))
        self.reduced += len(self.batch)
        self.batch = []


def expose(rng, frame, clock):
    flux = float(rng.lognormal(1.0, 0.3))
    return Exposure(due=frame // 2 + int(rng.integers(2, 5)), frame=frame, epoch=clock, flux=flux)


def main(run):
    rng = run.rng("sky")
    pipe = Pipeline()
    desk = run.track("desk", {"pending": 0, "reduced": 0, "means": []})
    frame = 0
    for tick in run.ticks(36):
        for _ in range(2):
            pipe.submit(expose(rng, frame, EPOCH + frame * 5400))
            frame += 1
        pipe.advance(tick)
        desk["pending"] = len(pipe.heap) + len(pipe.batch)
        desk["reduced"] = pipe.reduced
        desk["means"] = [mean for _, (_, mean) in sorted(pipe.nights.items())]
    return {"nights": len(pipe.nights)}
