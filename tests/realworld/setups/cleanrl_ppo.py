"""PPO on CartPole in one file, as CleanRL publishes it; shortened."""

import argparse
import os
import random
import time

import gymnasium as gym
import numpy as np
import torch
from torch import nn, optim
from torch.distributions.categorical import Categorical


def parse_args():
    parser = argparse.ArgumentParser()
    parser.add_argument("--exp-name", default=os.path.basename(__file__).removesuffix(".py"))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--env-id", default="CartPole-v1")
    parser.add_argument("--total-timesteps", type=int, default=1024)
    parser.add_argument("--learning-rate", type=float, default=2.5e-4)
    parser.add_argument("--num-envs", type=int, default=4)
    parser.add_argument("--num-steps", type=int, default=64)
    parser.add_argument("--gamma", type=float, default=0.99)
    parser.add_argument("--num-minibatches", type=int, default=4)
    parser.add_argument("--update-epochs", type=int, default=2)
    parser.add_argument("--clip-coef", type=float, default=0.2)
    args = parser.parse_args()
    args.batch_size = int(args.num_envs * args.num_steps)
    args.minibatch_size = int(args.batch_size // args.num_minibatches)
    return args


def make_env(env_id):
    def thunk():
        return gym.wrappers.RecordEpisodeStatistics(gym.make(env_id))

    return thunk


def layer_init(layer, std=np.sqrt(2)):
    torch.nn.init.orthogonal_(layer.weight, std)
    torch.nn.init.constant_(layer.bias, 0.0)
    return layer


class Agent(nn.Module):
    def __init__(self, envs):
        super().__init__()
        seen = int(np.prod(envs.single_observation_space.shape))
        acts = int(envs.single_action_space.n)
        hidden = layer_init(nn.Linear(seen, 64))
        self.critic = nn.Sequential(hidden, nn.Tanh(), layer_init(nn.Linear(64, 1), std=1.0))
        self.actor = nn.Sequential(hidden, nn.Tanh(), layer_init(nn.Linear(64, acts), std=0.01))

    def get_action_and_value(self, x, action=None):
        probs = Categorical(logits=self.actor(x))
        if action is None:
            action = probs.sample()
        return action, probs.log_prob(action), self.critic(x).flatten()


if __name__ == "__main__":
    args = parse_args()
    run_name = f"{args.env_id}__{args.exp_name}__{args.seed}__{int(time.time())}"
    print(run_name)
    random.seed(args.seed)
    np.random.seed(args.seed)
    torch.manual_seed(args.seed)
    torch.backends.cudnn.deterministic = True
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    envs = gym.vector.SyncVectorEnv([make_env(args.env_id) for _ in range(args.num_envs)])
    agent = Agent(envs).to(device)
    optimizer = optim.Adam(agent.parameters(), lr=args.learning_rate, eps=1e-5)
    shape = (args.num_steps, args.num_envs)
    obs = torch.zeros(shape + envs.single_observation_space.shape)
    actions, logprobs, rewards, dones, values = (torch.zeros(shape) for _ in range(5))
    global_step, start_time = 0, time.time()
    next_obs, _ = envs.reset(seed=args.seed)
    next_obs, next_done = torch.Tensor(next_obs), torch.zeros(args.num_envs)
    for _ in range(args.total_timesteps // args.batch_size):
        for step in range(args.num_steps):
            global_step += args.num_envs
            obs[step], dones[step] = next_obs, next_done
            with torch.no_grad():
                action, logprobs[step], values[step] = agent.get_action_and_value(next_obs)
            actions[step] = action
            next_obs, reward, terminated, truncated, infos = envs.step(action.cpu().numpy())
            rewards[step] = torch.tensor(reward)
            next_obs, next_done = torch.Tensor(next_obs), torch.Tensor(terminated | truncated)
            if "episode" in infos:
                print(f"global_step={global_step}, episodic_return={infos['episode']['r'].max()}")
        returns, follow = torch.zeros(shape), agent.get_action_and_value(next_obs)[2].detach()
        for t in reversed(range(args.num_steps)):
            after = next_done if t == args.num_steps - 1 else dones[t + 1]
            follow = returns[t] = rewards[t] + args.gamma * follow * (1.0 - after)
        b_obs = obs.reshape((-1, *envs.single_observation_space.shape))
        b_actions, b_logprobs, b_returns, b_values = (
            x.reshape(-1) for x in (actions, logprobs, returns, values)
        )
        b_inds = np.arange(args.batch_size)
        for _ in range(args.update_epochs):
            np.random.shuffle(b_inds)
            for start in range(0, args.batch_size, args.minibatch_size):
                mb = b_inds[start : start + args.minibatch_size]
                picked = b_actions.long()[mb]
                _, newlogprob, newvalue = agent.get_action_and_value(b_obs[mb], picked)
                ratio = (newlogprob - b_logprobs[mb]).exp()
                gain = b_returns[mb] - b_values[mb]
                gain = (gain - gain.mean()) / (gain.std() + 1e-8)
                clipped = torch.clamp(ratio, 1 - args.clip_coef, 1 + args.clip_coef)
                v_loss = 0.5 * ((newvalue - b_returns[mb]) ** 2).mean()
                loss = torch.max(-gain * ratio, -gain * clipped).mean() + v_loss
                optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(agent.parameters(), 0.5)
                optimizer.step()
        print("SPS:", int(global_step / (time.time() - start_time)))
    envs.close()
