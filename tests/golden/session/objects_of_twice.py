"""States that hold objects of twice: streams, the run, functions of theirs, and a type."""


class Held:
    """Holds one object."""

    def __init__(self, part):
        self.part = part


def main(run):
    """Track each kind."""
    parts = {
        "numpy": run.rng("a"),
        "python": run.python("b"),
        "draw": run.rng("c").normal,
        "bits": run.rng("d").bit_generator,
        "run": run,
        "clock": run.effects.clock,
        "type": type(run.rng("e")),
    }
    for name, part in parts.items():
        run.track(name, Held(part))
    for _ in run.ticks(2):
        parts["numpy"].normal()
        parts["python"].random()
