"""Radio station: fixed programme by day, per-listener shuffles by night."""
import random
from functools import partial

SONGS = ["Azure", "Brook", "Cinder", "Dawn", "Ember", "Flint", "Grove", "Harbor"]


def night_programme(rng, songs):
    bag = []
    while True:
        if not bag:
            bag = songs[:]
            rng.shuffle(bag)
        yield bag.pop()


def day_programme(songs, hours):
    for hour in range(hours):
        yield songs[hour % len(songs)]


def full_programme(opening, closing):
    yield from opening
    yield from closing


def open_listener(name, mood, songs, hours):
    seed = hash((name, mood))
    night = night_programme(random.Random(seed), songs)
    return full_programme(day_programme(songs, hours), night)


class Station:
    def __init__(self, listeners, hours):
        start = partial(open_listener, songs=SONGS, hours=hours)
        self.feeds = {name: start(name, mood) for name, mood in listeners}
        self.playing = {}
        self.counts = dict.fromkeys(SONGS, 0)

    def advance(self):
        for name, feed in self.feeds.items():
            song = next(feed)
            self.playing[name] = song
            self.counts[song] += 1

    def state(self):
        return {"playing": dict(self.playing), "counts": dict(self.counts)}

    def restore(self, state):
        self.playing = dict(state["playing"])
        self.counts = dict(state["counts"])


def main(run):
    station = Station([("ines", "calm"), ("tomas", "loud"), ("yuki", "blue")], hours=12)
    run.track("station", station)
    for _ in run.ticks(20):
        station.advance()
    return max(station.counts.values())
