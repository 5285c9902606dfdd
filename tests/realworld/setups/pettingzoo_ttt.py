"""Tic-tac-toe by random players, as the page of each PettingZoo environment has it."""

from pettingzoo.classic import tictactoe_v3

env = tictactoe_v3.env()
env.reset(seed=42)

for agent in env.agent_iter():
    observation, reward, termination, truncation, info = env.last()

    if termination or truncation:
        print(agent, "reward", reward)
        action = None
    else:
        mask = observation["action_mask"]
        # this is where you would insert your policy
        action = env.action_space(agent).sample(mask)
        print(agent, "plays", action)

    env.step(action)
env.close()
