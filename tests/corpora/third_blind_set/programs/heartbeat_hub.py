"""A hub for sensors: heartbeats, leases and readings; who is silent for too long is struck off."""

import logging
import os
import time
import uuid

log = logging.getLogger("hub")
log.addHandler(logging.NullHandler())
TRACE = os.environ.get("HUB_TRACE") == "1"
LEASE = 5
HOSTS = ["alder", "birch", "cedar", "dogwood", "elder", "fir", "gorse", "hazel"]


class Session:
    def __init__(self, host, now):
        self.host = host
        self.token = uuid.uuid4()
        self.opened = time.time()
        self.lease = now + LEASE
        self.latencies = []

    def beat(self, now):
        started = time.perf_counter_ns()
        self.lease = now + LEASE
        self.latencies.append(time.perf_counter_ns() - started)

    def age(self):
        return time.time() - self.opened


class Hub:
    def __init__(self):
        self.sessions = {}
        self.by_host = {}
        self.struck = []
        self.joined = 0
        self.sum = 0
        self.slowest = 0

    def hello(self, host, now):
        session = Session(host, now)
        self.sessions[session.token] = session
        self.by_host[host] = session.token
        self.joined += 1
        log.info("%s joined as %s, pid %d", host, session.token, os.getpid())

    def beat(self, host, value, now):
        token = self.by_host.get(host)
        if token is None:
            self.hello(host, now)
            token = self.by_host[host]
        session = self.sessions[token]
        session.beat(now)
        self.slowest = max(self.slowest, session.latencies[-1])
        self.sum += value

    def sweep(self, now):
        late = {token for token, session in self.sessions.items() if session.lease <= now}
        gone = []
        for token in late:
            session = self.sessions.pop(token)
            log.warning("%s silent after %.3f s", session.host, session.age())
            del self.by_host[session.host]
            gone.append(session.host)
        self.struck += sorted(gone)
        if TRACE and gone:
            log.warning("at %.3f: %d struck off, request %s", time.time(), len(gone), os.urandom(4).hex())

    def oldest(self):
        return max((session.age() for session in self.sessions.values()), default=0.0)

    def state(self):
        return {"present": sorted(self.by_host), "struck": list(self.struck), "joined": self.joined, "sum": self.sum,
                "leases": {host: self.sessions[token].lease for host, token in self.by_host.items()}}

    def restore(self, state):
        self.struck, self.joined, self.sum = list(state["struck"]), state["joined"], state["sum"]
        self.sessions, self.by_host = {}, {}
        for host in state["present"]:
            session = Session(host, 0)
            session.lease = state["leases"][host]
            self.sessions[session.token] = session
            self.by_host[host] = session.token


def main(run):
    radio, sensor = run.rng("radio"), run.rng("sensor")
    hub = run.track("hub", Hub())
    for tick in run.ticks(40):
        for host in HOSTS:
            if radio.random() < (0.2 if (tick // 8) % 2 else 0.6):
                hub.beat(host, int(sensor.integers(0, 100)), tick)
        hub.sweep(tick)
        if hub.oldest() > 3600.0:
            log.error("the hub runs for too long")
