"""An emergency department as asyncio tasks: doctors take patients from a shared waiting list."""
import asyncio
from collections import deque
from contextvars import ContextVar

ON_DUTY = {"Adeyemi", "Brandt", "Castellanos", "Dhillon", "Eriksen"}
on_call = ContextVar("on_call", default="nobody")


class Department:
    def __init__(self):
        self.waiting = deque()
        self.seen = []
        self.minutes = dict.fromkeys(sorted(ON_DUTY), 0)

    def arrive(self, severity, number):
        if severity > 7:
            self.waiting.appendleft((severity, number))
        else:
            self.waiting.append((severity, number))

    def state(self):
        return {"seen": self.seen[-6:], "minutes": dict(self.minutes), "waiting": len(self.waiting)}

    def restore(self, state):
        self.seen, self.minutes = list(state["seen"]), dict(state["minutes"])


async def examine(severity):
    """Worse patients take more turns of the loop."""
    for _ in range(1 + severity // 3):
        await asyncio.sleep(0)
    return 4 + 3 * severity


def sign(department, number):
    department.seen.append(f"{number}:{on_call.get()}")


async def doctor(name, department, capacity):
    on_call.set(name)
    while capacity > 0 and department.waiting:
        severity, number = department.waiting.popleft()
        spent = await examine(severity)
        department.minutes[name] += spent
        capacity -= spent
        sign(department, number)


async def senior_only(department):
    if department.waiting:
        await doctor("Brandt", department, 60)


async def everyone(department, capacity):
    await asyncio.gather(
        *(doctor(name, department, capacity) for name in ON_DUTY),
        return_exceptions=False,
    )


def quiet(tick):
    return tick < 5


def main(run):
    rng = run.rng("arrivals")
    department = Department()
    run.track("department", department)
    number = 0
    for tick in run.ticks(16):
        for _ in range(int(rng.integers(1, 4)) if quiet(tick) else int(rng.integers(3, 8))):
            number += 1
            department.arrive(int(rng.integers(1, 10)), number)
        if quiet(tick):
            asyncio.run(senior_only(department))
        else:
            asyncio.run(everyone(department, 40))
    return department.minutes
