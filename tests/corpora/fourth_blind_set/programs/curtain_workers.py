"""Stage machinery: four winch motors are computed in a thread pool; results are put together by name, not by arrival."""
import threading
from concurrent.futures import ThreadPoolExecutor, as_completed

MOTORS = ["house curtain", "fire curtain", "cyclorama", "flying piece"]


class Motor:
    """A winch with its own speed; moves towards its target with limited acceleration."""

    def __init__(self, name, speed):
        self.name = name
        self.position = 0.0
        self.velocity = 0.0
        self.speed = speed
        self.target = 0.0

    def advance(self, steps):
        for _ in range(steps):
            wanted = max(-self.speed, min(self.speed, (self.target - self.position) * 0.8))
            self.velocity += max(-0.05, min(0.05, wanted - self.velocity))
            self.position += self.velocity * 0.1
        return self.name, self.position


class Grid:
    def __init__(self, motors):
        self._motors = motors
        self._lock = threading.Lock()
        self.positions = {name: 0.0 for name in MOTORS}
        self.reports = 0
        self.load = 0

    def state(self):
        return {
            "positions": {name: round(p, 9) for name, p in self.positions.items()},
            "reports": self.reports,
            "load": self.load,
        }

    def restore(self, state):
        self.positions.update(state["positions"])
        self.reports, self.load = state["reports"], state["load"]

    def _one(self, motor):
        name, position = motor.advance(400)
        with self._lock:
            self.reports += 1
            self.load += len(name)
        return name, position

    def step(self, pool):
        """Advance all motors in parallel, then gather them as they come."""
        futures = [pool.submit(self._one, motor) for motor in self._motors]
        arrived = {}
        for future in as_completed(futures):
            name, position = future.result()
            arrived[name] = position
        for name in MOTORS:
            self.positions[name] = arrived[name]


def cue(rng, motors):
    """A cue: one or two motors get another target."""
    for _ in range(int(rng.integers(1, 3))):
        motors[int(rng.integers(len(motors)))].target = round(float(rng.uniform(0.0, 9.0)), 2)


def main(run):
    rng = run.rng("cues")
    motors = [Motor(name, 0.4 + 0.2 * i) for i, name in enumerate(MOTORS)]
    grid = run.track("grid", Grid(motors))
    with ThreadPoolExecutor(max_workers=3) as pool:
        for tick in run.ticks(16):
            if tick % 3 == 0:
                cue(rng, motors)
            grid.step(pool)
    run.compare("reports", grid.reports)
    return grid.reports
