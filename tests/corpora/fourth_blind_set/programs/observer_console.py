"""Telescope night console: instruments answer over asyncio, the console prints how long it all took."""
import asyncio
import os
import time

INSTRUMENTS = {"camera": 3, "guider": 1, "spectrograph": 5, "seeing": 2, "weather": 2}


class Instrument:
    def __init__(self, name, rng):
        self.name = name
        self.rng = rng
        self.answers = 0

    async def ask(self):
        for _ in range(INSTRUMENTS[self.name]):
            await asyncio.sleep(0)
        self.answers += 1
        return self.name, round(self.rng.gauss(10.0, 2.0), 4)


class Night:
    def __init__(self, instruments):
        self.instruments = instruments
        self.readings = {}
        self.quality = 0.0
        self.exposures = 0

    async def poll(self):
        tasks = {asyncio.create_task(i.ask()) for i in self.instruments}
        answers = []
        while tasks:
            done, tasks = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                answers.append(task.result())
        return sorted(answers)

    def judge(self, answers):
        for name, value in answers:
            old = self.readings.get(name, value)
            self.readings[name] = round(0.7 * old + 0.3 * value, 5)
        self.quality = round(self.readings["seeing"] / self.readings["guider"], 5)
        self.exposures += self.quality < 1.1

    def state(self):
        return {"readings": dict(self.readings), "quality": self.quality, "exposures": self.exposures}

    def restore(self, state):
        self.readings = dict(state["readings"])
        self.quality = state["quality"]
        self.exposures = state["exposures"]


class Console:
    def __init__(self, out):
        self.out = out
        self.started = time.perf_counter()

    def show(self, night):
        spent = time.perf_counter() - self.started
        print(f"[{os.getpid()}] {time.ctime()} +{spent:.6f}s q={night.quality} {night!r}", file=self.out)


def main(run):
    instruments = [Instrument(name, run.streams.python(name)) for name in INSTRUMENTS]
    night = run.track("night", Night(instruments))
    with open(os.devnull, "w") as out:
        console = Console(out)
        for _ in run.ticks(18):
            night.judge(asyncio.run(night.poll()))
            console.show(night)
    return night.exposures
