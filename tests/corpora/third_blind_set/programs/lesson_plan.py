"""A curriculum for cart-pole: lessons are taken easiest first, a linear policy climbs through them."""

import heapq
import itertools

import gymnasium as gym
import numpy as np

LESSONS = {
    "balance": (0, {}, []),
    "nudge": (1, {"force_mag": 9.0}, ["balance"]),
    "heavy_cart": (2, {"masscart": 1.6}, ["nudge"]),
    "long_pole": (2, {"length": 0.9}, ["nudge"]),
    "low_gravity": (2, {"gravity": 5.0}, ["nudge"]),
    "weak_motor": (2, {"force_mag": 6.0}, ["nudge", "balance"]),
    "heavy_pole": (3, {"masspole": 0.4}, ["heavy_cart", "long_pole"]),
    "jupiter": (3, {"gravity": 20.0}, ["low_gravity", "weak_motor"]),
    "exam": (4, {"masscart": 1.3, "length": 0.7}, ["heavy_pole", "jupiter"]),
    "acrobatics": (5, {"length": 0.2}, ["exam"]),
}
PER_LESSON = 4


class Curriculum:
    """The lessons that lead to a goal, in the order in which they are taken."""

    def __init__(self, goal):
        self.goal = goal
        self.rewind(0)

    def rewind(self, taken):
        needed, stack = set(), [self.goal]
        while stack:
            name = stack.pop()
            if name not in needed:
                needed.add(name)
                stack.extend(LESSONS[name][2])
        ticket = itertools.count()
        self.queue = []
        for name in needed:
            heapq.heappush(self.queue, (LESSONS[name][0], next(ticket), name))
        self.current, self.taken = None, 0
        for _ in range(taken):
            self.advance()

    def advance(self):
        if self.queue:
            self.current = heapq.heappop(self.queue)[2]
            self.taken += 1
        return self.current

    def state(self):
        return {"taken": self.taken, "left": len(self.queue)}

    def restore(self, state):
        self.rewind(state["taken"])


class Climber:
    """Tries a neighbour of its weights, keeps it when it balances longer."""

    def __init__(self, env, rng):
        self.env, self.rng = env, rng
        self.weights = np.array([0.1, 0.2, 1.0, 0.6])
        self.best, self.steps, self.accepted = 0.0, 0, 0

    def episode(self, weights, seed):
        observation, _ = self.env.reset(seed=seed)
        total = 0.0
        for _ in range(120):
            action = int(observation @ weights > 0)
            observation, reward, ended, cut, _ = self.env.step(action)
            total += reward - 0.2 * abs(observation[0])
            self.steps += 1
            if ended or cut:
                break
        return total

    def study(self, seed):
        trial = self.weights + 0.15 * self.rng.standard_normal(4)
        now, then = self.episode(self.weights, seed), self.episode(trial, seed)
        if then > now:
            self.weights, self.accepted = trial, self.accepted + 1
        self.best = max(now, then)

    def state(self):
        return {"weights": self.weights, "best": self.best, "steps": self.steps, "accepted": self.accepted}

    def restore(self, state):
        self.weights, self.best = np.array(state["weights"]), state["best"]
        self.steps, self.accepted = state["steps"], state["accepted"]


def main(run):
    env = gym.make("CartPole-v1").unwrapped
    plain = {key: getattr(env, key) for key in ("gravity", "masscart", "masspole", "length", "force_mag")}
    plan = run.track("plan", Curriculum("acrobatics"))
    climber = run.track("climber", Climber(env, run.rng("climb")))
    starts = run.rng("starts")
    seen = set()
    for tick in run.ticks(PER_LESSON * len(LESSONS)):
        if tick % PER_LESSON == 0:
            plan.advance()
            seen.add(plan.current)
        setting = {**plain, **LESSONS[plan.current][1]}
        for key in setting.keys() | plain.keys():
            setattr(env, key, setting[key])
        env.total_mass = env.masspole + env.masscart
        env.polemass_length = env.masspole * env.length
        climber.study(int(starts.integers(1 << 30)))
        run.compare("lessons seen", len(seen))
