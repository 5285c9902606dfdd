"""What each repository of the repair trials must still do after its correction, computed from its data anew."""

from __future__ import annotations

import csv
import json
import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path

# A pinned hash seed or a program that starts itself anew hides a bug.
WORKAROUNDS = re.compile(r"environ.*PYTHONHASHSEED|os\.exec|\bsetarch\b")


@dataclass(frozen=True)
class Meaning:
    """How to see that a repository still does its work.

    Attributes:
        check: yields what is wrong with an output, by the data in the folder.
        alterations: changes of data or settings after which the output must be another one and still be right.
        needed: a pattern that the sources must still contain.
    """

    check: Callable[[Path, list[str]], Iterator[str]]
    alterations: tuple[Callable[[Path], None], ...]
    needed: str = ""

    def complain(self, folder: Path, output: str) -> list[str]:
        """Return what is wrong with an output."""
        try:
            return list(self.check(folder, output.splitlines()))
        except (ValueError, IndexError, KeyError, TypeError, ZeroDivisionError) as error:
            return [f"the output has another form: {error!r}"]

    def refuse_sources(self, sources: dict[str, str]) -> list[str]:
        """Return what sources may not contain, or no longer contain."""
        found = [f"{name} works around" for name, text in sources.items() if WORKAROUNDS.search(text)]
        if self.needed and not any(re.search(self.needed, text) for text in sources.values()):
            found.append(f"no {self.needed} any more")
        return found


def change_settings(file: str = "settings.json", **values: object) -> Callable[[Path], None]:
    """Return an alteration of a settings file."""

    def alter(folder: Path) -> None:
        path = folder / file
        path.write_text(json.dumps(_json(path) | values))

    alter.__doc__ = f"{values} in {file}"
    return alter


def change_text(file: str, change: Callable[[str], str], meaning: str) -> Callable[[Path], None]:
    """Return an alteration of a file's text."""

    def alter(folder: Path) -> None:
        path = folder / file
        path.write_text(change(path.read_text()))

    alter.__doc__ = meaning
    return alter


def _json(path: Path) -> dict:
    return json.loads(path.read_text())


def check_plan(folder: Path, lines: list[str]) -> Iterator[str]:
    index = {row["name"]: row for row in _json(folder / "packages.json")}
    settings = _json(folder / "settings.json")
    wanted, waiting = set(), list(settings["roots"])
    while waiting:
        name = waiting.pop()
        if name not in wanted:
            wanted.add(name)
            waiting.extend(index[name]["needs"])
    rows = [line.split() for line in lines[:-1]]
    order = [row[1] for row in rows]
    if sorted(order) != sorted(wanted):
        yield "not each wanted package once"
    done: set[str] = set()
    for _, name, version, _ in rows:
        if not set(index[name]["needs"]) <= done:
            yield f"{name} before what it needs"
        if version != max(index[name]["versions"], key=lambda text: [int(x) for x in text.split(".")]):
            yield f"not the newest {name}"
        done.add(name)
    slow = {each["host"] for each in settings["mirrors"] if each["slow"]}
    if {row[3] for row in rows} != {each["host"] for each in settings["mirrors"]}:
        yield "downloads are not spread"
    if any(row[3] in slow and index[row[1]]["kilobytes"] >= 5000 for row in rows):
        yield "a large file from a slow mirror"


def check_shieldings(folder: Path, lines: list[str]) -> Iterator[str]:
    settings = _json(folder / "settings.json")
    energies, shieldings = [], []
    for path in sorted((folder / "conformers").glob("*_freq.txt")):
        energies.append(float(re.search(r"Free Energies=\s*(\S+)", path.read_text())[1]))
        other = path.with_name(path.name.replace("_freq", "_nmr")).read_text()
        found = re.findall(r"(\d+)\s+([CH])\s+Isotropic =\s+(\S+)", other)
        shieldings.append({element + number: float(value) for number, element, value in found})
    factors = [
        math.exp(-(each - min(energies)) * 627.509474 / 0.0019872041 / settings["temperature_K"])
        for each in energies
    ]
    if lines[0] != f"conformers {len(energies)}":
        yield "not all conformers"
    rows = {row[0]: row for row in map(str.split, lines[1:])}
    if list(rows) != list(shieldings[0]):
        yield "not all atoms in their order"
    for atom, row in rows.items():
        expected = sum(w * each[atom] for w, each in zip(factors, shieldings)) / sum(factors)
        if abs(float(row[1]) - expected) > 2e-4:
            yield f"{atom} is {row[1]} and not {expected:.4f}"
        if float(row[2]) <= 0.01:
            yield f"{atom} has no error"


def check_clusters(folder: Path, lines: list[str]) -> Iterator[str]:
    with (folder / "gauges.csv").open() as file:
        table = {row.pop("gauge"): [float(x) for x in row.values()] for row in csv.DictReader(file)}
    columns = list(zip(*table.values()))
    means = [sum(each) / len(each) for each in columns]
    spreads = [math.sqrt(sum((x - m) ** 2 for x in each) / len(each)) for each, m in zip(columns, means)]
    scaled = {
        name: [(x - m) / s for x, m, s in zip(row, means, spreads)] for name, row in table.items()
    }
    groups = [line.split(" | ") for line in lines[1:]]
    members = [name for group in groups for name in group[2].split()]
    if sorted(members) != sorted(table) or len(groups) != _json(folder / "settings.json")["clusters"]:
        yield "not each gauge in one of the groups"
    inertia = 0.0
    for _, centre, names in groups:
        rows = [scaled[name] for name in names.split()]
        expected = [sum(column) / len(rows) for column in zip(*rows)]
        inertia += sum((x - m) ** 2 for row in rows for x, m in zip(row, expected))
        if max(abs(float(x) - m) for x, m in zip(centre.split(), expected)) > 1e-3:
            yield "a centre is not the mean of its group"
    if abs(inertia - float(lines[0].split()[1])) > 1e-3 or inertia > 110:
        yield "the groups are not tight"


def check_days(folder: Path, lines: list[str]) -> Iterator[str]:
    levels: dict[tuple[str, str], list[float]] = defaultdict(list)
    with (folder / "readings.csv").open() as file:
        for row in csv.DictReader(file):
            if row["quality"] != "bad":
                day = datetime.fromtimestamp(int(row["stamp"]), timezone.utc).date()
                levels[str(day), row["station"]].append(float(row["level_m"]))
    expected = [
        f"{day} {station:9} n={len(each):3} low={min(each):.2f} high={max(each):.2f} "
        f"range={max(each) - min(each):.2f}"
        for (day, station), each in sorted(levels.items())
    ]
    if lines[: len(expected)] != expected:
        yield "the days are not UTC days"
    if sum(line.startswith("check by hand: ") for line in lines) != 3:
        yield "no spot checks"
    if lines[-1] != f"total {sum(map(len, levels.values()))}":
        yield "the total is not that of the readings"


def check_cover(folder: Path, lines: list[str]) -> Iterator[str]:
    plots = {row["name"]: row for row in _json(folder / "plots.json")}
    if [line.split()[0] for line in lines[:-1]] != sorted(plots):
        yield "not all plots in their order"
    steps = [(each + 0.5) / 100 for each in range(100)]
    settings = _json(folder / "settings.json")
    total = 0.0
    for line in lines[:-1]:
        name, cover = line.split()[0], float(re.search(r"cover (\S+)", line)[1])
        crowns = plots[name]["crowns"]
        true = sum(
            any((x - a) ** 2 + (y - b) ** 2 < r * r for a, b, r in crowns) for x in steps for y in steps
        ) / len(steps) ** 2
        if abs(cover - true) > 0.04:
            yield f"{name} has {cover}, by a fine grid {true}"
        if line.endswith(" dense") != (cover > settings["dense"]) and abs(cover - settings["dense"]) > 1e-4:
            yield f"{name} is marked wrongly"
        total += cover * plots[name]["hectares"]
    if abs(total - float(lines[-1].split()[-1])) > 0.01:
        yield "the sum is another one"


def check_levels(folder: Path, lines: list[str]) -> Iterator[str]:
    settings = _json(folder / "settings.json")
    rows, columns = settings["rows"], settings["columns"]
    if lines[0] != f"basins {rows * columns}, canals {2 * rows * columns - rows - columns}":
        yield "another network"
    before, after = re.findall(r"\d+\.\d+", lines[1])
    if abs(float(before) - float(after)) > 1e-5 or not 3800 < float(before) < 4300:
        yield "water is lost"
    if not 1300 < float(lines[2].split()[1]) < 1550:
        yield "another volume is moved"
    levels = [float(line.split()[1]) for line in lines[3:]]
    if len(levels) != 12 or sorted(levels, reverse=True) != levels or not 2.0 < levels[0] < 2.5:
        yield "other levels"


def check_variants(folder: Path, lines: list[str]) -> Iterator[str]:
    requests = [json.loads(line) for line in (folder / "requests.jsonl").read_text().splitlines()]
    experiments = {row["product"]: row for row in _json(folder / "experiments.json")}
    prices = {"ferry-pass": 4800, "bike-week": 9500, "locker": 1200, "guide-book": 2650}
    if len(lines) != len(requests):
        yield "not all requests are answered"
    seen: dict[tuple[str, str], str] = {}
    traces = set()
    for request, line in zip(requests, lines):
        _, status, body = line.split(" ", 2)
        answer, query = json.loads(body), request.get("query", {})
        traces.add(answer["trace"])
        product, customer = query.get("product"), query.get("customer")
        known = 200 if customer or request["path"] == "/currencies" else 400
        if int(status) != (404 if request["path"] == "/prices" else known):
            yield f"{status} for {request}"
        if product in experiments and customer:
            off = experiments[product]["discounts"][answer["variant"]]
            if seen.setdefault((product, customer), answer["variant"]) != answer["variant"]:
                yield f"{customer} changes the variant"
            if answer["cents"] != round(prices[product] * (1 - off)):
                yield f"a wrong price for {customer}"
    if len(traces) < len(requests):
        yield "traces repeat"
    for product, row in experiments.items():
        counts = Counter(variant for (each, _), variant in seen.items() if each == product)
        for variant, share in row["shares"].items():
            if not 0.3 * share < counts[variant] / counts.total() < 1.9 * share:
                yield f"{variant} has {counts[variant]} of {counts.total()}"
    both = {customer for _, customer in seen}
    pairs = {(seen["ferry-pass", each], seen["bike-week", each]) for each in both}
    if len(pairs) < 5:
        yield "one experiment decides the other"


def check_answers(folder: Path, lines: list[str]) -> Iterator[str]:
    settings = _json(folder / "settings.json")
    buckets: dict[str, tuple[float, float]] = {}
    requests = [json.loads(line) for line in (folder / "requests.jsonl").read_text().splitlines()]
    accepted, refused = 0, 0
    for request, line in zip(requests, lines):
        client, now = request["client"], request["at_ms"] / 1000
        expected = "400"
        if request["cents"] > 0:
            tokens, last = buckets.get(client, (settings["burst"], now))
            tokens = min(settings["burst"], tokens + (now - last) * settings["rate_per_s"])
            expected = "200" if tokens >= 1 else "429"
            accepted, refused = accepted + (tokens >= 1), refused + (tokens < 1)
            buckets[client] = (tokens - (tokens >= 1), now)
        if expected == "200":
            expected += f" R{accepted:04}-"
        if not line.startswith(f"{request['number']:03} {client:7} {expected}"):
            yield f"{line}, expected {expected}"
    if lines[-1] != f"{len(requests)} answers, {refused} refused":
        yield "another number of answers"


def check_training(folder: Path, lines: list[str]) -> Iterator[str]:
    settings = _json(folder / "settings.json")
    losses = [float(line.split()[-1]) for line in lines if line.startswith("epoch ")]
    if len(losses) != settings["epochs"] or len(set(losses)) != len(losses):
        yield "not all epochs"
    if losses[-1] > 0.6 * losses[0] or float(lines[-2].split()[1]) < 0.7:
        yield "the model does not learn"


def check_forecast(folder: Path, lines: list[str]) -> Iterator[str]:
    expected = "forecast for day 30, seed "
    if not lines[0].startswith(expected) or len(lines) != 6:
        yield "another form"


def _drop_last_lines(text: str) -> str:
    return "".join(text.splitlines(keepends=True)[:-40])


MEANINGS = {
    "wheel_planner": Meaning(check_plan, (change_settings(seed=21),), "Random"),
    "shielding_average": Meaning(
        check_shieldings,
        (change_settings(temperature_K=350.0), change_settings(seed=1906)),
    ),
    "gauge_clusters": Meaning(check_clusters, (change_settings(seed=1), change_settings(seed=5))),
    "tide_days": Meaning(
        check_days, (change_text("readings.csv", _drop_last_lines, "40 readings less"),)
    ),
    "canopy_survey": Meaning(
        check_cover,
        (change_settings(seed=513), change_settings(points=12_000)),
        "ThreadPoolExecutor|ProcessPoolExecutor",
    ),
    "canal_levels": Meaning(check_levels, (change_settings(seed=1823),)),
    "variant_service": Meaning(
        check_variants,
        (change_text("requests.jsonl", lambda text: text.replace('"c', '"k').replace('"kustomer', '"customer'), "other customers"),),
    ),
    "replay_limiter": Meaning(
        check_answers,
        (
            change_text("requests.jsonl", _drop_last_lines, "40 requests less"),
            change_settings(rate_per_s=51.0),
            change_settings(seed=65),
        ),
    ),
    "call_classifier": Meaning(
        check_training, (change_settings(seed=8), change_settings(noise=0.0), change_settings(shift=0))
    ),
    "reservoir_forecast": Meaning(
        check_forecast, (change_settings("settings/standard.json", seed=89),)
    ),
}
