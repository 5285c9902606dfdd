"""A study of optuna: the sampler of Parzen estimators with a seed, as its pages have it; shortened."""

import numpy as np
import optuna


def make_data():
    x = np.linspace(-2, 2, 60)
    return x, np.sin(3 * x) + 0.1 * np.random.randn(60)


def objective(trial):
    degree = trial.suggest_int("degree", 1, 8)
    penalty = trial.suggest_float("penalty", 1e-5, 1e1, log=True)
    x, y = make_data()
    basis = np.vander(x, degree + 1)
    held = np.random.permutation(60)[:20]
    kept = np.setdiff1d(np.arange(60), held)
    gram = basis[kept].T @ basis[kept] + penalty * np.eye(degree + 1)
    weights = np.linalg.solve(gram, basis[kept].T @ y[kept])
    return float(np.mean((basis[held] @ weights - y[held]) ** 2))


if __name__ == "__main__":
    sampler = optuna.samplers.TPESampler(seed=10)  # Make the sampler behave in a deterministic way.
    study = optuna.create_study(direction="minimize", sampler=sampler)
    study.optimize(objective, n_trials=20)
    print("Best trial:", study.best_trial.number, study.best_value, study.best_params)
