"""A log pipeline: lines are parsed, enriched, counted; PIPE_PROFILE=1 measures the stages.

The profile goes to nowhere unless somebody calls Profile.show in a debugger.
"""
import os
import re
import time

PATTERN = re.compile(r"(?P<ip>\S+) - (?P<verb>[A-Z]+) (?P<path>\S+) (?P<code>\d{3}) (?P<size>\d+)")
VERBS = ["GET", "POST", "PUT", "HEAD"]


class Profile:
    def __init__(self):
        self.stamps = {}

    def wrap(self, name, stage):
        def timed(items):
            began = time.monotonic()
            for item in stage(items):
                yield item
            self.stamps.setdefault(name, []).append(time.monotonic() - began)

        return timed

    def show(self):
        return {name: sum(spans) for name, spans in self.stamps.items()}


def synthesize(count):
    value = 17
    for _ in range(count):
        value = (value * 48271) % 2147483647
        code = (200, 200, 200, 304, 404, 500)[value % 6]
        yield f"10.0.{value % 7}.{value % 251} - {VERBS[value % 4]} /item/{value % 23} {code} {value % 9000}"


def parse(lines):
    for line in lines:
        found = PATTERN.match(line)
        if found:
            yield found.groupdict()


def enrich(rows):
    for row in rows:
        row["size"] = int(row["size"])
        row["class"] = row["code"][0] + "xx"
        row["subnet"] = row["ip"].rsplit(".", 1)[0]
        yield row


def sample_errors(rows):
    """Everything but four of five successes."""
    kept = 0
    for row in rows:
        kept += row["class"] == "2xx"
        if row["class"] != "2xx" or kept % 5 == 0:
            yield row


def main():
    stages = [("parse", parse), ("enrich", enrich), ("sample", sample_errors)]
    profile = Profile() if os.environ.get("PIPE_PROFILE") == "1" else None
    flow = synthesize(900)
    for name, stage in stages:
        flow = (profile.wrap(name, stage) if profile else stage)(flow)
    by_class, by_subnet = {}, {}
    for row in flow:
        by_class[row["class"]] = by_class.get(row["class"], 0) + 1
        by_subnet[row["subnet"]] = by_subnet.get(row["subnet"], 0) + row["size"]
    for name, count in sorted(by_class.items()):
        print(f"{name}: {count}")
    for name, size in sorted(by_subnet.items(), key=lambda pair: (-pair[1], pair[0]))[:4]:
        print(f"{name}: {size} bytes")


if __name__ == "__main__":
    main()
