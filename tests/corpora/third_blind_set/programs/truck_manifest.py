"""Loads lorries at a depot: a manifest is rendered for each, the clerk copies it page by page, then the lorry leaves."""

import heapq
import random
import shutil
import textwrap
from dataclasses import dataclass, field

from jinja2 import Environment

TEMPLATE = """LORRY {{ lorry.plate }} FOR {{ lorry.town | upper }}
{% for item in lorry.items %}
 {{ "%-10s" | format(item.kind) }} {{ "%6.1f" | format(item.kilos) }}
{% endfor %}
{% for line in remarks %}
 | {{ line }}
{% endfor %}
"""

REMARKS = {
    "glass": "Handle with care, keep upright, do not stack more than two high, and report any broken pane to the office before signing.",
    "paint": "Keep from frost. Drums are to be lashed with two straps; an absorbent mat lies under the third row.",
    "grain": "Tarpaulin is to be closed in rain. Weigh bridge on arrival.",
    "steel": "Axle loads were computed for a full tank; the bundle of beams must stay over the rear axle, whatever the forklift driver says.",
    "books": "None.",
}
TOWNS = ["Lund", "Malmo", "Ystad", "Kivik", "Eslov"]


@dataclass
class Item:
    kind: str
    kilos: float


@dataclass
class Lorry:
    plate: str
    town: str
    ready: float
    items: list = field(default_factory=list)
    pages: int = 0

    @property
    def kilos(self):
        return sum(item.kilos for item in self.items)


class Office:
    def __init__(self, lines_per_page=3):
        self.template = Environment(trim_blocks=True, lstrip_blocks=True).from_string(TEMPLATE)
        self.lines_per_page = lines_per_page
        self.paper = 0

    def layout(self):
        width = shutil.get_terminal_size((80, 24)).columns
        return textwrap.TextWrapper(width=max(20, width - 4), subsequent_indent="  ")

    def manifest(self, lorry):
        wrapper = self.layout()
        remarks = [line for kind in sorted({item.kind for item in lorry.items}) for line in wrapper.wrap(REMARKS[kind])]
        text = self.template.render(lorry=lorry, remarks=remarks)
        lorry.pages = -(-text.count("\n") // self.lines_per_page)
        self.paper += lorry.pages
        return text


def loading(count):
    now = 0.0
    for number in range(count):
        now += random.expovariate(1 / 9.0)
        lorry = Lorry(f"SK{100 + number}", random.choice(TOWNS), now)
        for kind in random.sample(sorted(REMARKS), random.randint(1, 4)):
            lorry.items.append(Item(kind, round(random.uniform(50, 900), 1)))
        yield lorry


def main():
    office = Office()
    archive = {}
    yard = []
    for lorry in loading(18):
        archive[lorry.plate] = office.manifest(lorry)
        heapq.heappush(yard, (lorry.ready, lorry.plate, lorry))
        print(f"loaded {lorry.plate} at {lorry.ready:6.1f} for {lorry.town}, {lorry.kilos:.1f} kg")
    gate = 0.0
    by_town = dict.fromkeys(TOWNS, 0.0)
    while yard:
        ready, plate, lorry = heapq.heappop(yard)
        gate = max(gate, ready) + 2.0 * lorry.pages
        by_town[lorry.town] += lorry.kilos
        print(f"left {plate} at {gate:6.1f}")
    for town, kilos in sorted(by_town.items()):
        print(f"{town}: {kilos:.1f} kg")


main()
