"""A bundler for a tiny script language: resolve imports, number the modules, shake, link, name the output."""

import gzip
import hashlib
import random
import re
from graphlib import TopologicalSorter

NAMES = ["app", "router", "store", "views", "forms", "table", "chart", "dates", "money", "i18n", "http", "cache",
         "events", "dom", "icons", "colors"]
IMPORT = re.compile(r"^use (\w+)", re.M)
EXPORT = re.compile(r"^def (\w+)", re.M)


def write_sources():
    """A project, as its authors might have left it."""
    sources = {}
    for index, name in enumerate(NAMES):
        below = NAMES[index + 1:] if index < 8 else []
        wanted = random.sample(below, min(len(below), 2 + random.randrange(4)))
        lines = [f"use {other}" for other in wanted]
        lines += [f"def {name}_{k} = {random.randrange(1000)}" for k in range(2 + random.randrange(3))]
        lines += [f"call {other}_0" for other in wanted if random.random() < 0.8]
        sources[name] = "\n".join(lines)
    return sources


class Module:
    def __init__(self, name, text):
        self.name, self.text = name, text
        self.imports = set(IMPORT.findall(text))
        self.exports = set(EXPORT.findall(text))
        self.number = -1


class Project:
    def __init__(self, sources):
        self.modules = {name: Module(name, text) for name, text in sources.items()}

    def reachable(self, entry):
        found, todo = set(), [entry]
        while todo:
            name = todo.pop()
            if name not in found:
                found.add(name)
                todo.extend(self.modules[name].imports)
        return found

    def number(self, entry):
        alive = self.reachable(entry)
        graph = {name: self.modules[name].imports for name in self.modules if name in alive}
        for number, name in enumerate(TopologicalSorter(graph).static_order()):
            self.modules[name].number = number
        return alive

    def unused(self, alive):
        called = {word for name in alive for word in re.findall(r"^call (\w+)", self.modules[name].text, re.M)}
        exported = set()
        for name in alive:
            exported |= self.modules[name].exports
        return sorted(exported - called)


def compile_module(project, module):
    body = []
    for line in module.text.splitlines():
        if line.startswith("def "):
            body.append(line[4:].replace(" ", ""))
        elif line.startswith("call "):
            owner = line[5:].rsplit("_", 1)[0]
            body.append(f"m{project.modules[owner].number}.{line[5:]}()")
    return f"m{module.number}={{{';'.join(body)}}}"


def link(project, alive):
    parts = [compile_module(project, project.modules[name]) for name in sorted(alive)]
    return "\n".join(parts).encode()


def budget(project, alive):
    sizes = {name: len(project.modules[name].text) for name in alive}
    biggest = max(sizes, key=lambda name: (sizes[name], name))
    return sum(sizes.values()), biggest


def main():
    project = Project(write_sources())
    alive = project.number("app")
    print(f"{len(project.modules)} modules, {len(alive)} reachable from app")
    total, biggest = budget(project, alive)
    print(f"{total} characters of source, most of it in {biggest}")
    print("never called:", ", ".join(project.unused(alive)))
    linked = link(project, alive)
    packed = gzip.compress(linked, mtime=0)
    print(f"wrote bundle-{hashlib.sha256(linked).hexdigest()[:10]}.js")
    print(f"{len(linked)} bytes, {len(packed)} packed" if len(packed) < len(linked) else f"{len(linked)} bytes, stored")


main()
