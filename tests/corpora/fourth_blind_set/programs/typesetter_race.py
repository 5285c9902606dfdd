"""Hot metal: several typesetters work at one page, taking slugs of type from the same case."""
import threading
import time
from queue import Empty, Queue

SETTERS = ["Amos", "Beth", "Carl", "Dora"]


class Case:
    """Type runs out; a setter who comes late takes a worn sort."""

    def __init__(self, rng):
        self.rng = rng
        self.lock = threading.Lock()

    def slug(self, words):
        with self.lock:
            worn = self.rng.random() < 0.2
        return {"words": words, "worn": worn}


class Page:
    def __init__(self):
        self.lines = []
        self.by = {name: 0 for name in SETTERS}
        self.worn = 0
        self.error = None

    def lay(self, name, slug, number):
        self.lines.append(number)
        self.by[name] += 1
        self.worn += slug["worn"]

    def state(self):
        return {"lines": self.lines[-12:], "by": dict(self.by), "worn": self.worn}

    def restore(self, state):
        self.lines = list(state["lines"])
        self.by = dict(state["by"])
        self.worn = state["worn"]


def setter(name, copy, case, page):
    while True:
        try:
            number, words = copy.get_nowait()
        except Empty:
            return
        time.sleep(0.0005 * (1 + words % 3))
        page.lay(name, case.slug(words), number)


def column(page, case, items):
    copy = Queue()
    for item in items:
        copy.put(item)
    threads = [threading.Thread(target=setter, args=(name, copy, case, page), name=name) for name in SETTERS]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def main(run):
    page = run.track("page", Page())
    rng = run.rng("copy")
    case = Case(run.streams.python("type"))
    number = 0
    for _ in run.ticks(12):
        items = []
        for _ in range(16):
            number += 1
            items.append((number, int(rng.integers(3, 12))))
        column(page, case, items)
    return page.worn
