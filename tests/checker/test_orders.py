"""Where an order by chance ends: what is said of small programs, and what is not."""

from __future__ import annotations

import pytest
from test_rules import findings

from twice.foundation.severity import Severity

RULES = {
    "set-order", "object-set-order", "unsorted-listing", "completion-order", "set-built-dict",
    "first-completed", "unordered-pool", "order-dependent-sum", "arrival-order",
}  # fmt: skip


def said(text: str) -> list[str]:
    """Return the rules about orders with findings above low."""
    return [
        each.found.rule
        for each in findings(text)
        if each.found.rule in RULES and each.severity > Severity.LOW
    ]


HARMLESS = {
    "a name that is sorted anew": (
        "def names(given):\n    found = list(set(given))\n    found = sorted(found)\n    return found\n"
    ),
    "an attribute that is sorted anew": (
        "class A:\n    def f(self, given):\n        self.found = list(set(given))\n"
        "        self.found = sorted(self.found)\n        return self.found\n"
    ),
    "a list that is filled in a loop and sorted in place": (
        "import os\n\ndef names(folder):\n    found = []\n    for name in os.listdir(folder):\n"
        "        found.append(name)\n    found.sort()\n    return found\n"
    ),
    "a search for one name": (
        "import os\n\ndef find(folder, wanted):\n    for name in os.listdir(folder):\n"
        "        if name == wanted:\n            return name\n    return None\n"
    ),
    "the only element": (
        "def only(given):\n    found = {str(each) for each in given}\n    if len(found) == 1:\n"
        "        return list(found)[0]\n    return None\n"
    ),
    "the only file, or an error": (
        "from pathlib import Path\n\ndef load(folder):\n    found = list(Path(folder).glob('*.pt'))\n"
        "    if len(found) != 1:\n        raise ValueError(folder)\n    return found[0]\n"
    ),
    "results under their own index, unpacked": (
        "from concurrent.futures import as_completed\n\ndef run(futures, results):\n"
        "    for future in as_completed(futures):\n        place, value = future.result()\n"
        "        results[place] = value\n"
    ),
    "a folder that is cleared by itself": (
        "def clear(folder):\n    for path in folder.iterdir():\n        if path.is_dir():\n"
        "            clear(path)\n            path.rmdir()\n        else:\n            path.unlink()\n"
    ),
    "one file written for each": (
        "import json\n\ndef save(names: set[str], folder):\n    for name in names:\n"
        "        with open(f'{folder}/{name}.json', 'w') as file:\n            json.dump(name, file)\n"
    ),
    "a hash of a frozenset": "def key(given: dict[str, str]):\n    return hash(frozenset(given.items()))\n",
    "places in an array": (
        "import numpy as np\n\ndef places(mask):\n    found = set(np.flatnonzero(mask))\n"
        "    return list(found)\n"
    ),
    "the first for a key that says as much as the value": (
        "def table(found: set[str], parse):\n    out = {}\n    for word in found:\n"
        "        key = parse(word).head\n        if key not in out:\n"
        "            out[key] = str(parse(word).head)\n    return out\n"
    ),
    "the only file, unpacked": (
        "from pathlib import Path\n\ndef trace(folder):\n"
        "    only, = Path(folder).glob('*.json')\n    return only\n"
    ),
    "a search through folders": (
        "import os\n\ndef find(folder, wanted):\n    for root, _, files in os.walk(folder):\n"
        "        if wanted in files and root != folder:\n            return os.path.join(root, wanted)\n"
    ),
    "names for dir(), which sorts": (
        "class A:\n    def __dir__(self):\n        return list(set(vars(self)) | {'x'})\n"
    ),
    "things to remove": (
        "def clean(index, ids: set[str], table):\n"
        "    to_remove = [table[each] for each in ids if each in table]\n    index.forget(to_remove)\n"
    ),
    "files uploaded one by one": (
        "import os\n\ndef send(bucket, folder):\n    for name in os.listdir(folder):\n"
        "        blob = bucket.blob(name)\n        blob.upload_from_filename(name)\n"
    ),
    "text whose length is asked, and that a log shows": (
        "import logging\n\nlogger = logging.getLogger()\n\ndef warn(table):\n"
        "    shown = ' and '.join([each for each in set(table.values()) if each])\n"
        "    if len(shown) > 0:\n        logger.warning(f'left out: {shown}')\n"
    ),
    "arrivals that are sorted": (
        "import multiprocessing as mp\n\ndef work(number, out):\n    out.put(number)\n\n"
        "def run(count):\n    out = mp.Queue()\n    for number in range(count):\n"
        "        mp.Process(target=work, args=(number, out)).start()\n    found = []\n"
        "    for _ in range(count):\n        found.append(out.get())\n    return sorted(found)\n"
    ),
    "a queue that is polled for nothing": (
        "import queue\n\ndef draw(messages, show):\n    while True:\n        try:\n"
        "            message = messages.get_nowait()\n        except queue.Empty:\n"
        "            message = None\n        if message:\n            show(message)\n"
    ),
    "a message": (
        "def check(given: set[str], known: set[str]):\n    message = f'unknown: {given - known}'\n"
        "    if given - known:\n        raise ValueError(message)\n"
    ),
}

HARMFUL = {
    "numbers given in turn": (
        "def table(text: str):\n    found = {}\n    for number, word in enumerate(set(text.split())):\n"
        "        found[word] = number\n    return found\n"
    ),
    "the last one wins": (
        "def owners(groups: set[str], members):\n    found = {}\n    for group in groups:\n"
        "        for member in members(group):\n            found[member] = group\n    return found\n"
    ),
    "a set that a function of the file goes through": (
        "def collect(agents, out):\n    for agent in agents:\n        out.append(agent)\n    return out\n\n"
        "def run(agents):\n    agents = set(agents)\n    return collect(agents, [])\n"
    ),
    "draws in turn": (
        "import random\n\nclass A:\n    def __init__(self, seed):\n        self.rng = random.Random(seed)\n\n"
        "    def step(self, names: set[str]):\n        return [self.rng.random() for name in names]\n"
    ),
    "the first of several with a name": (
        "def plugins(root, parse):\n    found = {}\n    for path in root.rglob('*.toml'):\n"
        "        plugin = parse(path)\n        if plugin.name not in found:\n"
        "            found[plugin.name] = plugin\n    return found\n"
    ),
    "keys that are taken out and put back": (
        "def clean(table, name=''):\n    inside = [each for each in table if each.startswith(name)]\n"
        "    if len(inside) > 1:\n        first = [table.pop(each) for each in inside][0]\n"
        "        table[name] = first\n    for child in {str(each) for each in inside}:\n"
        "        clean(table, child)\n    return table\n"
    ),
    "arrivals that are joined": (
        "import multiprocessing as mp\nimport numpy as np\n\ndef work(number, out):\n"
        "    out.put(number)\n\ndef run(count):\n    out = mp.get_context('spawn').Queue()\n"
        "    for number in range(count):\n        mp.Process(target=work, args=(number, out)).start()\n"
        "    found = []\n    for _ in range(count):\n        part = out.get()\n        found.append(part)\n"
        "    return np.concatenate(found)\n"
    ),
    "an element that is popped": (
        "def first(row: dict):\n    keys = {key for key in row.keys()}\n    key = keys.pop()\n"
        "    return row[key]\n"
    ),
    "a name that is sorted before": (
        "def names(given):\n    given = sorted(given)\n    found = list(set(given))\n    return found\n"
    ),
}


@pytest.mark.parametrize("text", HARMLESS.values(), ids=HARMLESS.keys())
def test_an_order_that_is_lost_is_left_alone(text: str) -> None:
    assert said(text) == []


@pytest.mark.parametrize("text", HARMFUL.values(), ids=HARMFUL.keys())
def test_an_order_that_decides_is_found(text: str) -> None:
    assert said(text) != []
