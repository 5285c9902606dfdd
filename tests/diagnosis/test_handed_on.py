"""A value that is handed on, made with its class, or written behind its statement: the line that made it is named."""

from __future__ import annotations

from pathlib import Path

import pytest

import twice
from tiers import sampled
from twice.diagnosis.diagnose import diagnose

HASH = ({"PYTHONHASHSEED": "1"}, {"PYTHONHASHSEED": "2"})
MODE = ({"MODE": "low"}, {"MODE": "high"})
BARE = ({}, {"PYTHONOPTIMIZE": "1"})
HEAD = "import json, os, random, weakref\n\n"
CASES = {
    "an object that a constructor takes": (
        HASH,
        """
class Roads:
    def __init__(self):
        self.ways = {}

class Dispatcher:
    def __init__(self, roads):
        self._roads, self.first = roads, ""
    def state(self):
        return {"first": self.first}

def build(open_roads):
    roads = Roads()
    roads.ways.update(dict.fromkeys(open_roads))  # here
    return roads

def main(run):
    roads = build({f"road {n}" for n in range(9)})
    dispatcher = run.track("dispatcher", Dispatcher(roads))
    for tick in run.ticks(4):
        if tick == 3:
            dispatcher.first = next(iter(dispatcher._roads.ways))
""",
    ),
    "tasks that wait in a loop, started in the order of a set": (
        HASH,
        """
import asyncio

async def cook(station, shelf):
    for _ in range(1 + len(station) // 5):
        await asyncio.sleep(0)
    shelf.append(station)

async def serve(stations, shelf):
    tasks = [
        asyncio.create_task(cook(station, shelf))
        for station in stations  # here
    ]
    await asyncio.gather(*tasks)

def main(run):
    shelf = run.track("shelf", {"shelf": []})
    loop = asyncio.new_event_loop()
    for tick in run.ticks(3):
        stations = ["grill"] if tick < 2 else frozenset(["fish", "sauce", "pastry", "larder", "grill"])
        loop.run_until_complete(serve(stations, shelf["shelf"]))
    loop.close()
""",
    ),
    "what a function made, and pickles or hands on at once": (
        HASH,
        """
class Tree:
    def __init__(self, luck):
        self.luck = luck

def graft(name):
    luck = random.Random(hash(name))  # here
    return Tree(luck=luck)

class Store:
    def __init__(self):
        self.trees = []
    def put(self, tree):
        self.trees.append(tree.luck.getstate())

def main(run):
    store, heights = Store(), run.track("heights", [0.0])
    store.put(graft("apple"))
    for tick in run.ticks(4):
        if tick == 3:
            luck = random.Random()
            luck.setstate(store.trees[0])
            heights[0] += luck.random()
""",
    ),
    "a number chosen in a class, and computed with": (
        MODE,
        """
CURVES = {"low": [1.0, 2.0, 3.0], "high": [1.0, 2.0, 9.0]}

class Settings:
    mode = os.environ.get("MODE")  # here

def rule(points):
    steps = sorted(points)
    def choose(level):
        chosen = 0.0
        for at in steps:
            if level < at:
                break
            chosen = at
        return chosen
    return choose

def main(run):
    gate, choose = run.track("gate", {"open": 0.0, "moves": 0}), rule(CURVES[Settings.mode])
    for tick in run.ticks(12):
        wanted = choose(float(tick))
        moved = wanted - gate["open"]
        if abs(moved) > 1e-9:
            gate["moves"] += 1
        gate["open"] = wanted
""",
    ),
    "a draw that is asked for another number": (
        MODE,
        """
def settings():
    mode = os.environ.get("MODE")  # here
    return {"demand": 2.0 if mode == "low" else 40.0}

def main(run):
    rng, config, sold = run.rng("shop"), settings(), run.track("sold", [0])
    for tick in run.ticks(3):
        count = rng.poisson(config["demand"])
        sold[0] += int(count)
""",
    ),
    "a generator that is seeded behind its making": (
        ({}, {}),
        """
def luck():
    stream = random.Random()
    stream.seed(os.getpid())  # here
    return stream

def main(run):
    stream, crew = luck(), run.track("crew", [0.0])
    for tick in run.ticks(3):
        crew[0] += stream.random()
""",
    ),
    "a file that is full when it is closed": (
        HASH,
        """
def main(run):
    read = run.track("read", [""])
    for tick in run.ticks(4):
        if tick == 0:
            with open("tags.json", "w") as out:
                out.write(json.dumps({"tags": {f"tag {n}" for n in range(9)}}, default=list))  # here
        if tick == 3:
            with open("tags.json") as source:
                read[0] = json.load(source)["tags"][0]
""",
    ),
    "a list that is pickled to a file, read back ticks later": (
        HASH,
        """
import pickle

def names():
    seen = set()
    seen.update(f"storm {n}" for n in range(9))
    return list(seen)  # here

def save(payload):
    with open("names.pkl", "wb") as out:
        pickle.dump(payload, out)

def main(run):
    read = run.track("read", [""])
    for tick in run.ticks(6):
        if tick == 1:
            save({"tick": tick, "names": names()})
        if tick == 5:
            with open("names.pkl", "rb") as source:
                read[0] = pickle.load(source)["names"][0]
""",
    ),
    "tasks that report through a queue which another coroutine reads": (
        HASH,
        """
import asyncio

async def measure(name, queue):
    await asyncio.sleep(0)
    scaled = 2 * len(name)
    await queue.put((name, scaled))

async def gather(names):
    queue = asyncio.Queue()
    tasks = [asyncio.create_task(measure(name, queue)) for name in names]  # here
    await asyncio.gather(*tasks)
    found = []
    while not queue.empty():
        found.append(queue.get_nowait())
    return found

def main(run):
    first = run.track("first", [""])
    for tick in run.ticks(5):
        names = ["mast"] if tick < 3 else frozenset({"mast", "roof", "quay", "bridge", "tower"})
        first[0] = "".join(name for name, _ in asyncio.run(gather(names)))
""",
    ),
    "chunks that are added up, as many as a variable says": (
        ({"PARTS": "1"}, {"PARTS": "4"}),
        """
class Reducer:
    def __init__(self, parts):
        self.parts = parts
    def total(self, values):
        partial = [max(values[at :: self.parts]) for at in range(self.parts)]
        result = 0.0
        for part in partial:
            result += part
        return result

def parts():
    return int(os.environ.get("PARTS", 1))  # here

def main(run):
    rng, reducer, rating = run.rng("bouts"), Reducer(parts()), run.track("rating", [0.0])
    for tick in run.ticks(6):
        values = (rng.normal(0, 1, 96) * 10.0 ** rng.integers(-4, 4, 96)).tolist()
        if tick >= 3:
            rating[0] += reducer.total(values)
""",
    ),
    "an image that a function's choice is painted on": (
        HASH,
        """
from PIL import Image

COLOURS = {f"shade {at:02}": (at, at, at) for at in range(40)}

class Painter:
    def __init__(self, allowed):
        self.allowed, self.proofs = allowed, []
    def choose(self):
        return min(self.allowed, key=len)  # here
    def paint(self):
        self.proofs.append(Image.new("RGB", (8, 8), COLOURS[self.choose()]).tobytes())

def main(run):
    painter, ink = Painter(frozenset(COLOURS)), run.track("ink", [0])
    for tick in run.ticks(6):
        if tick < 3:
            painter.paint()
        else:
            ink[0] += painter.proofs.pop(0)[0]
""",
    ),
    "a comprehension of several lines over a set, in what a constructor calls": (
        HASH,
        """
class Farm:
    def __init__(self, rng, crops):
        self.rng, self.crops, self.money = rng, crops, 0.0
        self.vigour = self.trial()
    def trial(self):
        return {
            crop: float(self.rng.gamma(8.0, 0.125))
            for crop in self.crops  # here
        }
    def state(self):
        return {"money": self.money}

def main(run):
    farm = run.track("farm", Farm(run.rng("farm"), {"rye", "oats", "wheat", "beans", "peas"}))
    for tick in run.ticks(5):
        if tick == 3:
            farm.money += farm.vigour["rye"]
""",
    ),
    "a dataclass that is filled behind its generated constructor": (
        HASH,
        """
from dataclasses import dataclass

@dataclass
class Field:
    name: str
    def __post_init__(self):
        self.luck = random.Random(hash(self.name))  # here
    def drill(self):
        for row in range(9):
            yield self.luck.random()

def main(run):
    fields = [
        Field("north"),
        Field("brook"),
    ]
    work, sown = {each.name: each.drill() for each in fields}, run.track("sown", [0.0])
    for tick in run.ticks(6):
        if tick > 3:
            for each in fields:
                sown[0] += next(work[each.name])
""",
    ),
    "a set that a generator passes on": (
        HASH,
        """
import heapq

def every(rounds):
    seen = set()
    for names in rounds:
        seen |= set(names)
    yield from seen  # here

def main(run):
    heap, walked = [], run.track("walked", [""])
    for number, street in enumerate(every([["quay", "church", "mill"], ["mill", "abbey", "long"]])):
        heapq.heappush(heap, (5, number, street))
    for tick in run.ticks(8):
        if tick > 4 and heap:
            walked[0] = heapq.heappop(heap)[2]
""",
    ),
    "what a weak set gives": (
        HASH,
        """
class Listener:
    def __init__(self, name):
        self.name = name
    def __hash__(self):
        return hash(self.name)

def main(run):
    listeners = [Listener(f"house {n}") for n in range(7)]
    waiting, heard = weakref.WeakSet(listeners), run.track("heard", [""])
    for tick in run.ticks(3):
        for listener in waiting:  # here
            heard[0] = listener.name
            break
""",
    ),
    "an assert that draws": (
        BARE,
        """
def plausible(rng):
    return abs(rng.normal()) < 90

def main(run):
    rng, wind = run.rng("wind"), run.track("wind", [0.0])
    for tick in run.ticks(4):
        wind[0] = float(rng.normal())
        assert plausible(rng)  # here
""",
    ),
}


@pytest.mark.integration
@pytest.mark.parametrize("what", sampled(CASES, {"an object that a constructor takes"}))
def test_the_line_that_made_it_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    if "from PIL" in CASES[what][1]:
        pytest.importorskip("PIL")
    monkeypatch.chdir(tmp_path)
    sides, source = CASES[what]
    program = tmp_path / "program.py"
    program.write_text(HEAD + source)
    paths = [tmp_path / "a.twice", tmp_path / "b.twice"]
    for path, variables in zip(paths, sides, strict=True):
        env = {"PYTHONHASHSEED": "0", **variables}
        twice.record(f"{program}:main", seed=1, out=path, env=env).close()

    found = diagnose(*paths)

    guilty = 1 + next(n for n, line in enumerate(source.splitlines()) if "# here" in line)
    assert found.operation is not None, found.to_text()
    assert found.operation.line == guilty + HEAD.count("\n"), found.to_text()
