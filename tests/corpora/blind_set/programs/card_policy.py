"""Monte Carlo control for blackjack: the table is tracked, the cards are Gymnasium's."""

import gymnasium as gym
import numpy as np


class Counted(gym.Wrapper):
    """Counts hands and steps; a hand that goes on for too long is given up."""

    def __init__(self, env, most):
        super().__init__(env)
        self.most = most
        self.steps = 0
        self.hands = 0

    def step(self, action):
        observation, reward, terminated, truncated, info = self.env.step(action)
        self.steps += 1
        return observation, reward, terminated, truncated or self.steps >= self.most, info  # innocent

    def reset(self, seed=None, options=None):
        self.steps = 0
        self.hands += 1
        return self.env.reset(options=options)  # guilty


class Learner:
    """Values of states and actions, by the mean of what came after."""

    def __init__(self, rng):
        self.value = np.zeros((33, 12, 2, 2))
        self.count = np.zeros((33, 12, 2, 2), dtype=int)
        self.rng = rng

    def dice(self, count):
        return self.rng.random(count)  # innocent

    def act(self, state, die, epsilon):
        if die < epsilon:
            return int(die < epsilon / 2)
        return int(np.argmax(self.value[state]))  # innocent

    def learn(self, visits, outcome):
        for state, action in visits:
            at = (*state, action)
            self.count[at] += 1
            self.value[at] += (outcome - self.value[at]) / self.count[at]

    def state(self):
        return {"value": self.value.copy(), "count": self.count.copy()}

    def restore(self, state):
        self.value[:], self.count[:] = state["value"], state["count"]


def hand(env, learner, seed, epsilon):
    observation, _ = env.reset(seed=seed)
    visits, outcome, done = [], 0.0, False
    dice = learner.dice(env.most)
    while not done:
        state = tuple(int(part) for part in observation)
        action = learner.act(state, float(dice[len(visits)]), epsilon)
        visits.append((state, action))
        observation, outcome, terminated, truncated, _ = env.step(action)
        done = terminated or truncated
    return visits, float(outcome)


def main(run):
    env = Counted(gym.make("Blackjack-v1", sab=True), most=12)
    learner = run.track("learner", Learner(run.rng("explore")))
    purse = run.track("purse", {"chips": 100.0, "tips": 0.0})
    tips = run.rng("tips")
    waiting = []
    for tick in run.ticks(40):
        for k in range(4):
            waiting.append(hand(env, learner, 1000 * tick + k, epsilon=0.3))
        if tick % 10 == 9:
            for visits, outcome in waiting:  # innocent
                learner.learn(visits, outcome)
                purse["chips"] += outcome
            waiting.clear()
        purse["tips"] += float(tips.random())
    env.close()
