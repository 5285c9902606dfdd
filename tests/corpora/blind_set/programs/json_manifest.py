"""A build: the first stage writes what there is to do as JSON, the second reads it and counts the cost."""

import json
import os
import random
import tempfile

MODULES = {
    "core": (), "codec": ("core",), "net": ("core",), "ui": ("core", "codec"),
    "audio": ("codec",), "store": ("core", "net"), "tests": ("ui", "store"), "docs": (),
}
FOLDER = os.path.join(tempfile.gettempdir(), "blind16-json-manifest")


class Resolver:
    """Which modules a target needs, itself included."""

    def __init__(self, modules):
        self.modules = modules

    def closure(self, target):
        found, todo = set(), [target]
        while todo:
            name = todo.pop()
            if name not in found:
                found.add(name)
                todo.extend(self.modules[name])
        return found


def write_plan(path, resolver, targets):
    needed = set()
    for target in targets:  # innocent
        needed |= resolver.closure(target)
    plan = {"targets": sorted(targets), "order": [*needed], "count": len(needed)}  # guilty
    with open(path, "w", encoding="utf-8") as file:
        json.dump(plan, file, sort_keys=True, indent=1)  # innocent


def read_plan(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


class Builder:
    """Compiling is cheaper while what a module needs is still warm."""

    def __init__(self, modules, rng):
        self.modules = modules
        self.rng = rng
        self.warm = []
        self.seconds = 0.0

    def compile(self, name):
        cold = sum(need not in self.warm for need in self.modules[name])
        self.seconds += 1.0 + 2.5 * cold + self.rng.random() * 0.01
        self.warm = [*self.warm, name][-3:]


def main():
    os.makedirs(FOLDER, exist_ok=True)
    path = os.path.join(FOLDER, "plan.json")
    resolver = Resolver(MODULES)
    write_plan(path, resolver, ["tests", "audio", "docs"])
    flaky = random.Random(12)
    for attempt in range(12):
        print(f"lint {attempt}: {flaky.randrange(100)} warnings, {flaky.random():.3f} s")
    plan = read_plan(path)
    os.remove(path)
    os.rmdir(FOLDER)
    print("targets", plan["targets"], "modules", plan["count"], "known", sorted({*plan["order"]}) == sorted(MODULES))  # innocent
    builder = Builder(MODULES, random.Random(5))
    for name in plan["order"]:
        builder.compile(name)
    print(f"built in {builder.seconds:.2f} s, warm at the end: {', '.join(builder.warm)}")


if __name__ == "__main__":
    main()
