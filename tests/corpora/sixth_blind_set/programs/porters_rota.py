"""Porters and lifts in a hospital, simulated with simpy: trolleys queue for two lifts."""
import simpy

ERRANDS = {
    "linen": (6, 3), "meals": (8, 4), "samples": (3, 1), "beds": (11, 6),
    "oxygen": (9, 5), "post": (5, 2), "waste": (7, 4),
}


class Hospital:
    def __init__(self, env, rng):
        self.env, self.rng = env, rng
        self.lifts = simpy.Resource(env, capacity=2)
        self.stores = simpy.Container(env, capacity=500, init=120)
        self.trips = []
        self.waited = 0

    def trolley(self, errand):
        every, ride = ERRANDS[errand]
        while True:
            asked = self.env.now
            with self.lifts.request() as lift:
                yield lift
                self.waited += self.env.now - asked
                yield self.env.timeout(ride + int(self.rng.integers(0, 3)))
                self.trips.append(errand)
            if errand in ("linen", "meals") and self.stores.level > ride:
                yield self.stores.get(ride)
            yield self.env.timeout(every)

    def delivery(self):
        while True:
            yield self.env.timeout(45)
            yield self.stores.put(min(40, self.stores.capacity - self.stores.level))

    def state(self):
        return {"now": self.env.now, "trips": self.trips[-10:], "waited": self.waited,
                "stores": self.stores.level}

    def restore(self, state):
        self.trips, self.waited = list(state["trips"]), state["waited"]


class Rota:
    """Who is on: the night rota leaves some errands to the day."""

    def __init__(self, errands, night=()):
        self.day = set(errands)
        self.night = self.day - set(night)

    def start(self, env, hospital, shift):
        env.process(hospital.delivery())
        on = getattr(self, shift)
        return [
            env.process(hospital.trolley(errand))
            for errand in on
        ]


def main(run):
    env = simpy.Environment()
    hospital = Hospital(env, run.rng("lifts"))
    run.track("hospital", hospital)
    rota = Rota(ERRANDS, night=["meals", "post"])
    hands = rota.start(env, hospital, "night")
    for tick in run.ticks(20):
        env.run(until=(tick + 1) * 15)
        if tick == 9:
            for errand in sorted(rota.day - rota.night):
                hands.append(env.process(hospital.trolley(errand)))
    return {"hands": len(hands), "waited": hospital.waited}
