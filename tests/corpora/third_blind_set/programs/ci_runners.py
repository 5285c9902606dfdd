"""A CI service: pipelines of jobs, a queue by priority and age, a few runners."""

import itertools

from sortedcontainers import SortedKeyList

STAGES = {
    "checkout": [],
    "lint": ["checkout"], "types": ["checkout"], "unit": ["checkout"], "wheels": ["checkout"], "docs": ["checkout"],
    "images": ["checkout"], "licences": ["checkout"],
    "integration": ["unit", "wheels"], "browser": ["images", "unit"], "bench": ["wheels"],
    "publish": ["integration", "browser", "docs", "lint", "types", "licences"],
}
WEIGHT = {"checkout": 1, "publish": 2, "integration": 5, "browser": 5}
RUNNERS = ["amber", "basalt", "chalk"]


class Job:
    def __init__(self, pipeline, name, length):
        self.pipeline, self.name, self.length = pipeline, name, length
        self.missing = set(STAGES[name])
        self.ticket = 0

    def priority(self):
        return (-WEIGHT.get(self.name, 3), self.ticket)


class Service:
    def __init__(self, lengths):
        self.lengths = lengths
        self.tickets = itertools.count()
        self.queue = SortedKeyList(key=Job.priority)
        self.blocked = {}
        self.followers = {}
        for name, needs in STAGES.items():
            for need in needs:
                self.followers.setdefault(need, set()).add(name)
        self.running = {}
        self.busy = {name: 0 for name in RUNNERS}
        self.last = {name: "" for name in RUNNERS}
        self.finished = 0
        self.waited = 0

    def submit(self, pipeline):
        for name in STAGES:
            job = Job(pipeline, name, int(self.lengths.integers(2, 7)))
            if job.missing:
                self.blocked[pipeline, name] = job
            else:
                self.enqueue(job)

    def enqueue(self, job):
        job.ticket = next(self.tickets)
        self.queue.add(job)

    def release(self, done):
        for name in self.followers.get(done.name, ()):
            job = self.blocked[done.pipeline, name]
            job.missing.discard(done.name)
            if not job.missing:
                self.enqueue(self.blocked.pop((done.pipeline, name)))

    def step(self):
        for runner in RUNNERS:
            if runner in self.running:
                job, left = self.running[runner]
                self.busy[runner] += 1
                if left > 1:
                    self.running[runner] = (job, left - 1)
                    continue
                del self.running[runner]
                self.finished += 1
                self.last[runner] = f"{job.pipeline}/{job.name}"
                self.release(job)
            if self.queue:
                job = self.queue.pop(0)
                self.running[runner] = (job, job.length)
        self.waited += len(self.queue)


class Dashboard:
    """What people see: finished work only."""

    def __init__(self, service):
        self.service = service
        self.teams = 0

    def state(self):
        s = self.service
        return {"busy": dict(s.busy), "last": dict(s.last), "finished": s.finished, "waited": s.waited,
                "teams": self.teams}

    def restore(self, state):
        s = self.service
        s.busy, s.last = dict(state["busy"]), dict(state["last"])
        s.finished, s.waited, self.teams = state["finished"], state["waited"], state["teams"]


def main(run):
    service = Service(run.rng("lengths"))
    pushes = run.rng("pushes")
    board = run.track("board", Dashboard(service))
    authors = set()
    for tick in run.ticks(45):
        if tick % 11 == 0:
            author = ["mara", "ole", "priya", "quinn"][int(pushes.integers(4))]
            authors.add(author)
            service.submit(f"p{tick:02d}")
        board.teams = sum(len(name) for name in authors)
        service.step()
