"""A toy virtual machine: kernels are interpreted until they are hot, then run as register code."""

OPS = {"+": lambda a, b: (a + b) & 0xFFFF, "-": lambda a, b: (a - b) & 0xFFFF,
       "*": lambda a, b: (a * b) & 0xFFFF, "^": lambda a, b: a ^ b}
HOT = 4
REGISTERS = 4
KERNELS = {
    "mix": "t0 = x + y; t1 = t0 * x; m0 = t1; t2 = m0 ^ y; t3 = t2 + t1; m1 = t3; t4 = m1 * t0; m2 = t4; r = m2 - t2",
    "fold": "a = x ^ y; b = a; c = b * x; d = c + y; e = d; f = e ^ a; g = f; h = g + c; r = h - e",
    "hash": "p = x * y; q = p; s = q + x; u = s; v = u ^ q; w = v; z = w * s; k = z + v; r = k ^ u",
}


def parse(text):
    code = []
    for line in text.split(";"):
        target, expression = (part.strip() for part in line.split("="))
        words = expression.split()
        code.append((target, words[1], words[0], words[2]) if len(words) == 3 else (target, "mov", words[0], None))
    return code


def interference(code):
    """Which names are alive at the same time."""
    live, graph = {"r"}, {name: set() for target, _, a, b in code for name in (target, a, b) if name}
    for target, _, a, b in reversed(code):
        live.discard(target)
        for other in live:
            graph[target].add(other)
            graph[other].add(target)
        live |= {name for name in (a, b) if name}
    return graph


def colour(graph):
    """Chaitin's allocator: take out what has few neighbours, then give registers in the opposite order."""
    left = {name: set(near) for name, near in graph.items()}
    stack = []
    while left:
        easy = {name for name, near in left.items() if len(near) < REGISTERS}
        name = easy.pop() if easy else max(sorted(left), key=lambda n: len(left[n]))
        stack.append(name)
        for other in left.pop(name):
            left[other].discard(name)
    slots = {}
    for name in reversed(stack):
        taken = {slots[other] for other in graph[name] if other in slots}
        slots[name] = next(slot for slot in range(len(graph) + 1) if slot not in taken)
    return slots


class Kernel:
    def __init__(self, name, text):
        self.name, self.code, self.calls = name, parse(text), 0
        self.names = {target for target, *_ in self.code}
        self.slots = colour(interference(self.code))

    def cost(self, target, op, a, b):
        used = [self.slots[name] for name in (target, a, b) if name]
        if op == "mov" and used[0] == used[1]:
            return 0
        return 1 + 3 * sum(slot >= REGISTERS for slot in used)

    def call(self, x, y):
        self.calls += 1
        env, cycles = {"x": x, "y": y}, 0
        hot = self.calls > HOT
        for target, op, a, b in self.code:
            env[target] = env[a] if op == "mov" else OPS[op](env[a], env[b])
            cycles += self.cost(target, op, a, b) if hot else 6
        return env["r"], cycles


class Machine:
    def __init__(self):
        self.accumulator, self.cycles, self.width = 1, 0, 0

    def state(self):
        return {"accumulator": self.accumulator, "cycles": self.cycles, "width": self.width}

    def restore(self, state):
        self.accumulator, self.cycles, self.width = state["accumulator"], state["cycles"], state["width"]


def main(run):
    choice, operands = run.rng("choice"), run.rng("operands")
    kernels = {name: Kernel(name, text) for name, text in KERNELS.items()}
    machine = run.track("machine", Machine())
    order = list(kernels)
    for tick in run.ticks(40):
        kernel = kernels[order[int(choice.integers(len(order)))]]
        value, cycles = kernel.call(machine.accumulator, int(operands.integers(1, 1 << 16)))
        machine.accumulator = value
        machine.cycles += cycles
        machine.width = sum(len(name) for name in kernel.names)
