"""A baseline for the cliff: random trips, of which the better half is imitated and then tried."""

import gymnasium as gym
import numpy as np


class Trip:
    def __init__(self, seed):
        self.seed = seed
        self.steps = []
        self.reward = 0.0

    def add(self, state, action, reward):
        self.steps.append((int(state), int(action)))
        self.reward += float(reward)


class Imitator:
    """Votes for actions in states that were seen on good trips."""

    def __init__(self, states, actions):
        self.votes = np.zeros((states, actions), dtype=int)

    def learn(self, trip):
        for state, action in trip.steps:
            self.votes[state, action] += 1

    def act(self, state, rng):
        row = self.votes[state]
        if row.max() == 0:
            return int(rng.integers(len(row)))  # innocent
        return int(np.argmax(row))  # innocent


def explore(env, seed, length):
    trip = Trip(seed)
    state, _ = env.reset(seed=seed)  # innocent
    for _ in range(length):
        action = env.action_space.sample()  # guilty
        after, reward, terminated, truncated, _ = env.step(action)
        trip.add(state, action, reward)
        state = after
        if terminated or truncated:
            break
    return trip


def evaluate(env, imitator, rng, seed, length):
    state, _ = env.reset(seed=seed)
    total = 0.0
    for _ in range(length):
        state, reward, terminated, truncated, _ = env.step(imitator.act(state, rng))
        total += float(reward)
        if terminated or truncated:
            break
    return total


def main():
    env = gym.make("CliffWalking-v1")
    rng = np.random.default_rng(55)
    trips = [explore(env, seed=200 + k, length=40) for k in range(8)]
    trips.sort(key=lambda trip: (-trip.reward, trip.seed))
    imitator = Imitator(int(env.observation_space.n), int(env.action_space.n))
    for trip in trips[:4]:
        imitator.learn(trip)
    print("trips", len(trips), "states", int(env.observation_space.n))
    print("seen", int((imitator.votes.sum(axis=1) > 0).sum()), "best", trips[0].reward)
    print("drawn", sum(step * action for trip in trips for step, (_, action) in enumerate(trip.steps)))
    print("kept", sum(len(trip.steps) for trip in trips[:4]), "steps")
    for k in range(4):
        print(f"evaluation {k}: {evaluate(env, imitator, rng, 500 + k, 40):.1f}")
    env.close()


if __name__ == "__main__":
    main()
