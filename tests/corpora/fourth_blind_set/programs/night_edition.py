"""Night edition: stories are filed to a spool in the evening and laid out on pages before the press run."""
import json
import os
import tempfile
from collections import deque

PAGES = {"city": 2, "crime": 3, "courts": 3, "sport": 7, "money": 5, "shipping": 6, "arts": 8, "weather": 4}


class Spool:
    def __init__(self, folder):
        self.folder = folder
        self.filed = 0

    def file(self, story):
        path = os.path.join(self.folder, f"{self.filed:03d}.json")
        with open(path, "w", encoding="utf-8") as out:
            out.write(json.dumps(story, default=list, sort_keys=True))
        self.filed += 1
        return path

    @staticmethod
    def fetch(path):
        with open(path, encoding="utf-8") as source:
            return json.load(source)


class Layout:
    def __init__(self):
        self.pages = {number: [] for number in sorted(set(PAGES.values()))}
        self.room = {number: 60 for number in self.pages}

    def place(self, story):
        for tag in story["tags"]:
            page = PAGES[tag]
            if self.room[page] >= story["inches"]:
                self.room[page] -= story["inches"]
                self.pages[page].append(story["slug"])
                return page
        return None


def reporters(rng):
    beats = [{"city", "courts", "crime"}, {"sport", "money"}, {"shipping", "weather", "money"}, {"arts", "city"},
             {"crime", "sport", "arts"}]
    number = 0
    while True:
        beat = beats[int(rng.integers(0, len(beats)))]
        yield {"slug": f"story-{number}", "inches": int(rng.integers(4, 14)), "tags": beat}
        number += 1


def main(run):
    desk = run.track("desk", {"filed": 0, "inches": 0, "spiked": [], "pages": {}})
    copy = reporters(run.rng("beats"))
    layout = Layout()
    backlog = deque()
    with tempfile.TemporaryDirectory() as folder:
        spool = Spool(folder)
        for tick in run.ticks(22):
            if tick < 11:
                for _ in range(2):
                    story = next(copy)
                    backlog.append(spool.file(story))
                    desk["inches"] += story["inches"]
                desk["filed"] = spool.filed
            else:
                for _ in range(min(2, len(backlog))):
                    story = spool.fetch(backlog.popleft())
                    if layout.place(story) is None:
                        desk["spiked"].append(story["slug"])
                desk["pages"] = {str(n): list(slugs) for n, slugs in layout.pages.items()}
    return desk["spiked"]
