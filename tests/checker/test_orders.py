"""Where an order by chance ends: what is said of small programs, and what is not."""

from __future__ import annotations

import pytest
from files import findings

from twice.foundation.severity import Severity

RULES = {
    "set-order", "object-set-order", "unsorted-listing", "completion-order", "set-built-dict",
    "first-completed", "unordered-pool", "order-dependent-sum", "arrival-order", "thread-append",
}  # fmt: skip


def said(text: str) -> list[str]:
    """Return the rules about orders with findings above low."""
    return [
        each.found.rule
        for each in findings(text)
        if each.found.rule in RULES and each.severity > Severity.LOW
    ]


HARMLESS = {
    "a list that is filled in a loop and sorted in place": (
        "import os\ndef names(folder):\n    found = []\n    for name in os.listdir(folder):\n        found.append(name)\n    found.sort()\n"
        "    return found\n"
    ),
    "a search for one name": (
        "import os\ndef find(folder, wanted):\n    for name in os.listdir(folder):\n        if name == wanted:\n            return name\n"
        "    return None\n"
    ),
    "the only file, or an error": (
        "from pathlib import Path\ndef load(folder):\n    found = list(Path(folder).glob('*.pt'))\n    if len(found) != 1:\n"
        "        raise ValueError(folder)\n    return found[0]\n"
    ),
    "a folder that is cleared by itself": (
        "def clear(folder):\n    for path in folder.iterdir():\n        if path.is_dir():\n            clear(path)\n            path.rmdir()\n"
        "        else:\n            path.unlink()\n"
    ),
    "one file written for each": (
        "import json\ndef save(names: set[str], folder):\n    for name in names:\n        with open(f'{folder}/{name}.json', 'w') as file:\n"
        "            json.dump(name, file)\n"
    ),
    "a hash of a frozenset": "def key(given: dict[str, str]):\n    return hash(frozenset(given.items()))\n",
    "the only file, unpacked": "from pathlib import Path\ndef trace(folder):\n    only, = Path(folder).glob('*.json')\n    return only\n",
    "a search through folders": (
        "import os\ndef find(folder, wanted):\n    for root, _, files in os.walk(folder):\n        if wanted in files and root != folder:\n"
        "            return os.path.join(root, wanted)\n"
    ),
    "names for dir(), which sorts": "class A:\n    def __dir__(self):\n        return list(set(vars(self)) | {'x'})\n",
    "text whose length is asked, and that a log shows": (
        "import logging\nlogger = logging.getLogger()\ndef warn(table):\n"
        "    shown = ' and '.join([each for each in set(table.values()) if each])\n    if len(shown) > 0:\n"
        "        logger.warning(f'left out: {shown}')\n"
    ),
    "a queue that is polled for nothing": (
        "import queue\ndef draw(messages, show):\n    while True:\n        try:\n            message = messages.get_nowait()\n"
        "        except queue.Empty:\n            message = None\n        if message:\n            show(message)\n"
    ),
    "a message": (
        "def check(given: set[str], known: set[str]):\n    message = f'unknown: {given - known}'\n    if given - known:\n"
        "        raise ValueError(message)\n"
    ),
    "what stands under each element": (
        "class A:\n    def resize(self, names: set[str], size):\n        for name in names:\n            self.columns[name].resize(size)\n"
        "            self.columns[name].size = len(self.columns[name].values)\n"
    ),
    "each element taken away": (
        "class A:\n    def drop(self, gone: set[str]):\n        for name in gone:\n            link = self.links.pop(name)\n"
        "            link.disconnect()\n            self.owners.delete('agent', name)\n            self.on_change()\n"
    ),
    "a method that the file shows to touch its object alone": (
        "class Cell:\n    def __init__(self):\n        self.age = 0\n        self.past = []\n    def grow(self):\n        self.age += 1\n"
        "        self.past.append(self.age)\n        self._trim()\n    def _trim(self):\n        self.past = self.past[-5:]\ndef run():\n"
        "    cells = {Cell() for _ in range(9)}\n    for cell in cells:\n        cell.grow()\n"
    ),
    "what is said to people": (
        "def listing(known, given):\n    left = set(known) - set(given)\n    text = f'Not given: {\", \".join(left)}'\n    return True, text\n"
    ),
    "a sentence that grows": (
        "def describe(ways):\n    names = {str(way) for way in ways}\n    lines = 'Here:'\n    lines = lines + '\\nWays: ' + '-'.join(names)\n"
        "    return lines\n"
    ),
    "one element, asked for by a name": (
        "class A:\n    def start(self, parts):\n        self.clocks = {part.clock for part in parts}\n        single = len(self.clocks) == 1\n"
        "        if single:\n            return list(self.clocks)[0]\n        return None\n"
    ),
    "a word looked for among words": "def place(words):\n    but = {'but'} & set(words)\n    return words.index(next(iter(but)))\n",
    "work that is done to the end": (
        "def close(graph, start):\n    seen = set()\n    left = {str(start)}\n    while left:\n        node = left.pop()\n"
        "        seen.add(node)\n        left |= graph[node] - seen\n    return len(seen)\n"
    ),
    "members of all groups": (
        "def common(groups, tags: set[str]):\n    names = groups['all'].keys()\n    while tags:\n        names &= groups[tags.pop()].keys()\n"
        "    return sorted(names)\n"
    ),
    "the largest value": (
        "def heaviest(names: set[str], weights):\n    best = None\n    for name in names:\n        weight = weights[name]\n"
        "        if best is None or weight > best:\n            best = weight\n    return best\n"
    ),
    "sets that are joined": (
        "def around(names: set[str], edges):\n    found = set()\n    for name in names:\n        found = found.union(edges[name])\n"
        "    return len(found)\n"
    ),
    "the same value for all": (
        "def measure(labels: set[str], gold, test):\n    found = {}\n    for label in labels:\n        score = rate(gold, test)\n"
        "        found['score'] = score\n    return found\n"
    ),
    "frozen records of numbers": (
        "from dataclasses import dataclass\n@dataclass(frozen=True)\nclass Spot:\n    x: int\n    y: int\ndef spots(rows):\n"
        "    return list({Spot(1, 2), Spot(3, 4)})\n"
    ),
    "elements that are counted with": "def halves(given, table):\n    places = set(given)\n    return [table[place // 2] for place in places]\n",
    "a tracked list that is sorted": (
        "def main(run):\n    got = run.track('got', [])\n    for name in {'x', 'y'}:\n        got.append(name)\n    got.sort()\n"
    ),
    "a tracked list that is emptied in each tick": (
        "def main(run):\n    got = run.track('got', [])\n    for _ in run.ticks(2):\n        for name in {'x', 'y'}:\n"
        "            got.append(name)\n        got.clear()\n"
    ),
    "a tracked list that is replaced by its sorted items": (
        "def main(run):\n    got = run.track('got', [])\n    for name in {'x', 'y'}:\n        got.append(name)\n    got[:] = sorted(got)\n"
    ),
    "a tracked list that a function tidies": (
        "def tidy(items):\n    items.sort()\ndef main(run):\n    got = run.track('got', [])\n    for name in {'x', 'y'}:\n"
        "        got.append(name)\n    tidy(got)\n"
    ),
    "a list beside a tracked one": (
        "def main(run):\n    got, kept = [], []\n    run.track('kept', kept)\n    for name in {'x', 'y'}:\n        got.append(name)\n"
    ),
    "what is handed to another library's track": (
        "import analytics\ndef main(names):\n    got = []\n    analytics.track('names', got)\n    for name in set(names):\n"
        "        got.append(name)\n"
    ),
    "each with something of its own": "def table(names: set[str], size):\n    return dict(zip(names, map(size, names)))['a']\n",
    "pairs that one loop filled": (
        "import os\ndef load(folder, sort=True):\n    names, sizes = [], []\n    for name in os.listdir(folder):\n        names.append(name)\n"
        "        sizes.append(len(name))\n    pairs = [(name, size) for name, size in zip(names, sizes)]\n    if sort:\n"
        "        pairs = sorted(pairs)\n    return pairs\n"
    ),
    "a name given anew after the loop": (
        "def kinds(docs, base):\n    types = {type(doc).__name__ for doc in docs}\n    for name in types:\n        if name != base:\n"
        "            break\n    else:\n        return 'plain'\n    name = base\n    return name\n"
    ),
    "a function of a script that nobody calls": (
        "def find(folder):\n    found = []\n    for path in folder.rglob('*.out'):\n        found.append(path)\n    return found\ndef main():\n"
        "    pass\nif __name__ == '__main__':\n    main()\n"
    ),
    "one thread with a list of its own at a time": (
        "import threading\ndef ask():\n    answer = []\n    def read():\n        answer.append(input())\n    while True:\n        answer = []\n"
        "        thread = threading.Thread(target=read)\n        thread.start()\n        thread.join(5)\n        if answer:\n"
        "            return answer[0]\n"
    ),
    "one element, told by its number": (
        "def only(names: set[str]):\n    number = len(names)\n    if number == 0:\n        return None\n    elif number == 1:\n"
        "        return next(name for name in names)\n    return 'several'\n"
    ),
    "whether there is any": (
        "import os\ndef climb(path):\n    while not next(os.scandir(path), None):\n        os.rmdir(path)\n"
        "        path = os.path.dirname(path)\n"
    ),
    "results that are gathered and sorted": (
        "import asyncio\nasync def digests(names: set[str], one):\n    found = await asyncio.gather(*[one(name) for name in names])\n"
        "    return sorted(found)\n"
    ),
    "what a log is told": (
        "from house import logger\ndef tell(names: set[str]):\n    logger.info('begun', extra=dict(names=[name for name in names]))\n"
    ),
}  # fmt: skip

HARMFUL = {
    "numbers given in turn": (
        "def table(text: str):\n    found = {}\n    for number, word in enumerate(set(text.split())):\n        found[word] = number\n"
        "    return found\n"
    ),
    "the last one wins": (
        "def owners(groups: set[str], members):\n    found = {}\n    for group in groups:\n        for member in members(group):\n"
        "            found[member] = group\n    return found\n"
    ),
    "a set that a function of the file goes through": (
        "def collect(agents, out):\n    for agent in agents:\n        out.append(agent)\n    return out\ndef run(agents):\n"
        "    agents = set(agents)\n    return collect(agents, [])\n"
    ),
    "the first of several with a name": (
        "def plugins(root, parse):\n    found = {}\n    for path in root.rglob('*.toml'):\n        plugin = parse(path)\n"
        "        if plugin.name not in found:\n            found[plugin.name] = plugin\n    return found\n"
    ),
    "arrivals that are joined": (
        "import multiprocessing as mp\nimport numpy as np\ndef work(number, out):\n    out.put(number)\ndef run(count):\n"
        "    out = mp.get_context('spawn').Queue()\n    for number in range(count):\n"
        "        mp.Process(target=work, args=(number, out)).start()\n    found = []\n    for _ in range(count):\n        part = out.get()\n"
        "        found.append(part)\n    return np.concatenate(found)\n"
    ),
    "an element that is popped": "def first(row: dict):\n    keys = {key for key in row.keys()}\n    key = keys.pop()\n    return row[key]\n",
    "a setting with a draw": "def place(names: set[str], table, rng):\n    for name in names:\n        table[name].set_position(rng.random())\n",
    "work that leaves a list": (
        "def walk(graph, start):\n    found = []\n    left = {str(start)}\n    while left:\n        node = left.pop()\n"
        "        found.append(node)\n        left |= graph[node]\n    return found\n"
    ),
    "a sorting under a condition": (
        "def names(given, tidy):\n    found = list({str(each) for each in given})\n    if tidy:\n        found.sort()\n    return found\n"
    ),
    "a set that is one still, on one way": (
        "def names(given, keep):\n    found = set(given)\n    if keep:\n        found = keep(given)\n    return [name for name in found]\n"
    ),
    "values of a dict of sets": (
        "def all_of(groups: dict[str, set[str]]):\n    found = []\n    for kind, names in groups.items():\n        found.append(list(names))\n"
        "    return found\n"
    ),
    "an attribute of a base": (
        "class Base:\n    def __init__(self):\n        self.names = set()\nclass World(Base):\n    def order(self):\n"
        "        return list(self.names)\n"
    ),
    "an attribute of another object": (
        "class World:\n    def __init__(self):\n        self.names: set[str] = set()\ndef order(world: World):\n    return list(world.names)\n"
    ),
    "a property": (
        "class World:\n    @property\n    def names(self):\n        return {str(each) for each in self.found}\n    def order(self):\n"
        "        return list(self.names)\n"
    ),
    "a tracked list": (
        "def main(run):\n    got = run.track('got', [])\n    for _ in run.ticks(2):\n        for name in {'x', 'y'}:\n"
        "            got.append(name)\n"
    ),
    "a list that is tracked later": (
        "def main(run):\n    got = []\n    run.track('got', got)\n    for _ in run.ticks(2):\n        for name in {'x', 'y'}:\n"
        "            got.append(name)\n"
    ),
    "an attribute of a tracked object": (
        "class S:\n    def __init__(self):\n        self.a = []\n    def step(self, names):\n        for name in set(names):\n"
        "            self.a.append(name)\ndef main(run):\n    s = run.track('s', S())\n    for _ in run.ticks(2):\n        s.step(['a', 'b'])\n"
    ),
    "partners from another list": "def colours(names: set[str], palette):\n    return dict(list(zip(names, palette)))\n",
}  # fmt: skip


@pytest.mark.parametrize("text", HARMLESS.values(), ids=HARMLESS.keys())
def test_an_order_that_is_lost_is_left_alone(text: str) -> None:
    assert said(text) == []


@pytest.mark.parametrize("text", HARMFUL.values(), ids=HARMFUL.keys())
def test_an_order_that_decides_is_found(text: str) -> None:
    assert said(text) != []
