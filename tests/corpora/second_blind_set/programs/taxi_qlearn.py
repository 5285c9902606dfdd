"""Tabular Q-learning on Gymnasium's Taxi, with a schedule for the exploration rate.

Usage: python taxi_qlearn.py [episodes]
"""
import sys

import gymnasium as gym
import numpy as np

SEED = 1234
GAMMA = 0.97
WARMUP = 40


class Schedule:
    def __init__(self, start, end, steps):
        self.start, self.end, self.steps = start, end, steps

    def __call__(self, step):
        done = min(1.0, step / self.steps)
        return self.start + (self.end - self.start) * done


class Agent:
    def __init__(self, env, rng):
        self.table = np.zeros((env.observation_space.n, env.action_space.n))
        self.env = env
        self.rng = rng
        self.steps = 0
        self.epsilon = Schedule(0.6, 0.05, 4000)

    def act(self, state):
        self.steps += 1
        if self.steps > WARMUP and self.rng.random() < self.epsilon(self.steps):
            return int(self.env.action_space.sample())
        return int(np.argmax(self.table[state]))

    def learn(self, state, action, reward, following, ended):
        target = reward + (0.0 if ended else GAMMA * self.table[following].max())
        self.table[state, action] += 0.3 * (target - self.table[state, action])


def episode(env, agent, limit):
    total = 0
    state, _ = env.reset()
    for _ in range(limit):
        action = agent.act(state)
        following, reward, terminated, truncated, _ = env.step(action)
        agent.learn(state, action, reward, following, terminated)
        total += reward
        state = following
        if terminated or truncated:
            break
    return total


def main():
    episodes = int(sys.argv[1]) if len(sys.argv) > 1 else 12
    env = gym.make("Taxi-v4")
    env.reset(seed=SEED)
    agent = Agent(env, np.random.default_rng(SEED))
    returns = []
    for number in range(episodes):
        returns.append(episode(env, agent, limit=60))
        if number % 4 == 3:
            print(f"episode {number + 1:3d}: mean return {np.mean(returns[-4:]):8.2f}")
    print("states visited:", int((agent.table != 0).any(axis=1).sum()))
    print("table checksum: %.6f" % float(np.abs(agent.table).sum()))


if __name__ == "__main__":
    main()
