"""PPO of Stable-Baselines3 on CartPole, as its first example has it; shortened."""

import gymnasium as gym
from stable_baselines3 import PPO
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.evaluation import evaluate_policy

vec_env = make_vec_env("CartPole-v1", n_envs=2, seed=0)
model = PPO("MlpPolicy", vec_env, n_steps=64, batch_size=32, n_epochs=2, verbose=1, seed=0)
model.learn(total_timesteps=512)
model.save("ppo_cartpole")

del model
model = PPO.load("ppo_cartpole")
eval_env = gym.make("CartPole-v1")
mean_reward, std_reward = evaluate_policy(model, eval_env, n_eval_episodes=3, warn=False)
print(f"mean_reward={mean_reward:.2f} +/- {std_reward:.2f}")
