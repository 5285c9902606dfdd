"""Actor-critic on a corridor: rollouts are kept, and every few ticks the learner makes epochs over them."""

import logging
import os
from collections import deque

import numpy as np
import torch

log = logging.getLogger("rollout")
log.addHandler(logging.NullHandler())
TRACE = os.environ.get("ROLLOUT_TRACE") == "1"
EVERY = 18
CELLS = 9


class Corridor:
    def __init__(self, rng):
        self.rng, self.cell = rng, CELLS // 2

    def step(self, action):
        slip = self.rng.random() < 0.1
        self.cell += (1 if action else -1) * (-1 if slip else 1)
        if self.cell <= 0 or self.cell >= CELLS - 1:
            reward = 1.0 if self.cell >= CELLS - 1 else -0.2
            self.cell = CELLS // 2
            return reward
        return -0.01

    def state(self):
        return {"cell": self.cell}

    def restore(self, state):
        self.cell = state["cell"]


class Learner:
    def __init__(self):
        make = torch.Generator().manual_seed(3)
        self.policy = (0.1 * torch.randn(CELLS, 2, generator=make)).requires_grad_()
        self.value = torch.zeros(CELLS, requires_grad=True)
        self.optimiser = torch.optim.SGD([self.policy, self.value], lr=0.05)
        self.shuffle = np.random.default_rng(11)
        self.memory = deque(maxlen=160)
        self.loss = 0.0

    def act(self, cell, rng):
        with torch.no_grad():
            p = torch.softmax(self.policy[cell], 0)[1].item()
        return int(rng.random() < p)

    def keep(self, item):
        self.memory.append(item)

    def preview(self, count=4):
        picked = self.shuffle.choice(len(self.memory), size=count, replace=False)
        return [self.memory[i] for i in sorted(picked)]

    def epochs(self, number, size=32):
        for _ in range(number):
            order = self.shuffle.permutation(len(self.memory))
            for at in range(0, len(order), size):
                batch = [self.memory[i] for i in order[at : at + size]]
                cells, actions, gains = (torch.tensor(column) for column in zip(*batch))
                advantage = gains.float() - self.value[cells]
                chosen = torch.log_softmax(self.policy[cells], 1)[torch.arange(len(batch)), actions]
                loss = (advantage**2).mean() - (chosen * advantage.detach()).mean()
                self.optimiser.zero_grad()
                loss.backward()
                self.optimiser.step()
                self.loss = loss.item()

    def state(self):
        return {
            "policy": self.policy.detach().numpy().copy(),
            "value": self.value.detach().numpy().copy(),
            "loss": self.loss,
            "kept": len(self.memory),
        }

    def restore(self, state):
        with torch.no_grad():
            self.policy.copy_(torch.from_numpy(state["policy"]))
            self.value.copy_(torch.from_numpy(state["value"]))
        self.loss = state["loss"]


def main(run):
    world = run.track("world", Corridor(run.rng("slip")))
    learner = run.track("learner", Learner())
    choose = run.rng("choose")
    tally = run.track("tally", {"reward": 0.0, "visits": [0] * CELLS})
    for tick in run.ticks(40):
        trail = []
        for _ in range(8):
            cell = world.cell
            action = learner.act(cell, choose)
            reward = world.step(action)
            trail.append((cell, action, reward))
            tally["visits"][cell] += 1
            tally["reward"] += reward
        gain = 0.0
        for cell, action, reward in reversed(trail):
            gain = reward + 0.95 * gain
            learner.keep((cell, action, gain))
        if TRACE and tick == 5:
            log.debug("what the memory holds: %s", learner.preview())
        if tick % EVERY == EVERY - 1:
            learner.epochs(2)
