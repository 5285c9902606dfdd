"""What the state of a Stable-Baselines3 training is, piece by piece, named as the library names it.

``model.save()`` keeps networks, optimisers and counters. It does not keep the replay buffer, the episode that is
under way in the environments, their generators, those of the action spaces and of the process, and the last
observation; and ``load()`` seeds all generators again. Here each of these is a part.

Between two rollouts only: inside of one, the last transition is not stored yet. ``sb3.learn`` keeps to that. Not
seen: state of schedules and of functions given as callbacks, log files, and times of the clock.

Invariant: every tensor, module and optimiser among the attributes of an algorithm belongs to a part, or is refused.

Source: Stable-Baselines3, ``BaseAlgorithm._get_torch_save_params`` and ``_excluded_save_params``.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Sequence
from operator import attrgetter
from typing import Any, Final

import numpy as np
import torch
from gymnasium import Space
from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.callbacks import BaseCallback, CallbackList
from stable_baselines3.common.vec_env import DummyVecEnv, VecEnv, VecEnvWrapper

from twice.diagnosis.object_digest.mujocostate import is_mjdata
from twice.errors import CheckpointUnfit
from twice.integrations.checkpoints import torch_parts
from twice.integrations.checkpoints.attribute_parts import AttributesPart, HeldGenerator
from twice.integrations.checkpoints.parts import Part, TargetPart, copy_tree
from twice.integrations.checkpoints.torch_generators import describe_devices
from twice.integrations.checkpoints.trees import (
    from_tree,
    tensor_from_tree,
    tensor_to_tree,
    to_tree,
)
from twice.integrations.gymnasium.state import STRUCTURE, Simulator, list_layers

_STRUCTURE: Final = frozenset(
    {
        "policy", "policy_class", "env", "_vec_normalize_env", "device", "replay_buffer", "rollout_buffer", "_logger",
        "_custom_logger", "observation_space", "action_space", "actor", "critic", "critic_target", "q_net",
        "q_net_target", "batch_norm_stats", "batch_norm_stats_target",
    }
)  # fmt: skip
"""Attributes of algorithms that are second names into the policy, parts of their own, or no state."""
_VEC_ENV_STRUCTURE: Final = STRUCTURE | {"venv", "class_attributes", "keys", "obs_spaces"}
# Of DummyVecEnv: written by every step before it is read.
_VEC_ENV_BUFFERS: Final = frozenset({"buf_obs", "buf_dones", "buf_rews", "buf_infos", "actions"})
_CALLBACK_STRUCTURE: Final = frozenset(
    {"model", "locals", "globals", "parent", "callback", "callbacks", "callback_on_new_best", "eval_env", "pbar"}
)  # fmt: skip
_BUFFER_STRUCTURE: Final = frozenset({"device", "env", "observation_space", "action_space"})


def find_parts(name: str, target: object, opaque: Sequence[str] = ()) -> dict[str, Part]:
    """Return the parts of an algorithm, of a vectorised environment or of a callback.

    Args:
        name: what the object is called.
        target: the object. None of a class that is a plain module of torch, such as a policy.
        opaque: attributes of environments and callbacks whose state is given up.

    Raises:
        CheckpointUnfit: E-CHECKPOINT-003: part of the state is out of reach, such as that of a ``SubprocVecEnv``.
    """
    if isinstance(target, BaseAlgorithm):
        return _find_algorithm_parts(name, target, opaque)
    if isinstance(target, VecEnv):
        return _find_vec_env_parts(name, target, opaque)
    if isinstance(target, BaseCallback):
        return _find_callback_parts(name, target, opaque)
    return {}


def _find_algorithm_parts(
    name: str, model: BaseAlgorithm, opaque: Sequence[str]
) -> dict[str, Part]:
    if model.env is None:
        raise CheckpointUnfit(
            f"{name} is a {type(model).__name__} without an environment.",
            "Expected a model that can be trained.",
            "Give it one: model.set_env(env)",
            part=name,
        )
    states, tensors = model._get_torch_save_params()
    parts: dict[str, Part] = {}
    for attribute in states:
        parts |= torch_parts.find_parts(f"{name}.{attribute}", attrgetter(attribute)(model))
    for attribute in tensors:
        parts[f"{name}.{attribute}"] = TensorsPart(f"{name}.{attribute}", model, (attribute,))
    _refuse_unknown_tensors(
        name, model, {attribute.partition(".")[0] for attribute in states + tensors}
    )
    buffer = getattr(model, "replay_buffer", None)
    if buffer is not None:
        parts[f"{name}.replay_buffer"] = BufferPart(f"{name}.replay_buffer", buffer)
    if getattr(model, "use_sde", False):
        holder = getattr(model, "actor", model.policy)
        # The matrices that generalised state-dependent exploration has drawn.
        parts[f"{name}.exploration_noise"] = TensorsPart(
            f"{name}.exploration_noise",
            holder.action_dist,
            ("exploration_mat", "exploration_matrices"),
        )
    noise = getattr(model, "action_noise", None)
    if noise is not None:
        parts[f"{name}.action_noise"] = AttributesPart(f"{name}.action_noise", noise)
    # What the constructor was given is the configuration: the program that resumes gives it again.
    given = {each for cls in type(model).__mro__ for each in inspect.signature(cls).parameters}
    parts[f"{name}.progress"] = ProgressPart(
        f"{name}.progress", model, without=_STRUCTURE | given | set(tensors) | set(states)
    )
    return parts | _find_vec_env_parts(f"{name}.env", model.env, opaque)


def _refuse_unknown_tensors(name: str, model: BaseAlgorithm, known: set[str]) -> None:
    """Refuse an algorithm of somebody else that has networks which it does not save."""
    inside = {id(module) for module in model.policy.modules()}
    for attribute, value in vars(model).items():
        is_torch = isinstance(value, torch.nn.Module | torch.Tensor | torch.optim.Optimizer)
        if is_torch and attribute not in known and id(value) not in inside:
            raise CheckpointUnfit(
                f"{name} is a {type(model).__name__} with a {type(value).__name__} in {attribute!r}.",
                "Expected an algorithm whose _get_torch_save_params() names all that it trains.",
                f"Name {attribute!r} there: model.save() of this class does not keep it either.",
                part=name,
            )


def _find_vec_env_parts(name: str, env: VecEnv, opaque: Sequence[str]) -> dict[str, Part]:
    parts: dict[str, Part] = {}
    while isinstance(env, VecEnvWrapper):
        label = f"{name}.{type(env).__name__}"
        parts[label] = AttributesPart(label, env, without=_VEC_ENV_STRUCTURE, opaque=opaque)
        env = env.venv
    if not isinstance(env, DummyVecEnv):
        raise CheckpointUnfit(
            f"{name} is a {type(env).__name__}, whose environments live in other processes.",
            "Expected a DummyVecEnv: the state of its environments can be read.",
            "Build it with DummyVecEnv, or make_vec_env(..., vec_env_cls=DummyVecEnv).",
            part=name,
        )
    parts[name] = AttributesPart(
        name, env, without=_VEC_ENV_STRUCTURE | _VEC_ENV_BUFFERS, opaque=opaque
    )
    for index, each in enumerate(env.envs):
        parts |= _find_env_parts(f"{name}.{index}", each, opaque)
    return parts


def _find_env_parts(name: str, env: Any, opaque: Sequence[str]) -> dict[str, Part]:
    """Return the parts of one environment: each layer, its simulators, and all generators."""
    parts: dict[str, Part] = {}
    spaces: dict[int, None] = {}
    for layer in list_layers(env):
        label = f"{name}.{type(layer).__name__}"
        parts[label] = AttributesPart(label, layer, without=STRUCTURE, opaque=opaque)
        for which in ("action_space", "observation_space"):
            for path, space in _walk_spaces(f"{name}.{which}", getattr(layer, which)):
                # Wrappers show the space of what they wrap.
                if id(space) not in spaces:
                    spaces[id(space)] = None
                    parts[_find_free_name(path, parts)] = HeldGenerator(path, space)
    inner = env.unwrapped
    parts[f"{name}.np_random"] = HeldGenerator(f"{name}.np_random", inner)
    for attribute, value in sorted(vars(inner).items()):
        if is_mjdata(value):
            parts[f"{name}.{attribute}"] = SimulatorPart(f"{name}.{attribute}", inner, attribute)
    return parts


def _walk_spaces(path: str, space: Any) -> Iterator[tuple[str, Space[Any]]]:
    """Yield a space and the spaces inside it: each has a generator of its own."""
    yield path, space
    inner = getattr(space, "spaces", ())
    items = inner.items() if isinstance(inner, dict) else enumerate(inner)
    for key, each in items:
        yield from _walk_spaces(f"{path}.{key}", each)


def _find_free_name(name: str, taken: dict[str, Part]) -> str:
    while name in taken:
        name += "'"
    return name


def _find_callback_parts(
    name: str, callback: BaseCallback, opaque: Sequence[str]
) -> dict[str, Part]:
    parts: dict[str, Part] = {
        name: AttributesPart(name, callback, without=_CALLBACK_STRUCTURE, opaque=opaque)
    }
    inner = callback.callbacks if isinstance(callback, CallbackList) else []
    inner = [
        *inner,
        getattr(callback, "callback", None),
        getattr(callback, "callback_on_new_best", None),
    ]
    for index, each in enumerate(inner):
        if isinstance(each, BaseCallback):
            parts |= _find_callback_parts(f"{name}.{index}", each, opaque)
    env = getattr(callback, "eval_env", None)
    return parts | (_find_vec_env_parts(f"{name}.eval_env", env, opaque) if env is not None else {})


class ProgressPart(AttributesPart):
    """Counters, last observations and the episodes that the logs average over, of an algorithm."""

    def read(self) -> object:
        """Return the attributes; of finished episodes all but their duration on the clock."""
        state: Any = super().read()
        for episode in state["values"].get("ep_info_buffer", {}).get("~deque", ()):
            episode.pop("t", None)
        return state


class BufferPart(TargetPart):
    """A replay buffer: its counters, and of its arrays the rows that were written."""

    def read(self) -> object:
        """Return the attributes, arrays of shape (rows, environments, ...) cut to the rows in use."""
        return {
            attribute: to_tree(self._cut(value), f"{self.name}.{attribute}")
            for attribute, value in sorted(vars(self.target).items())
            if attribute not in _BUFFER_STRUCTURE
        }

    def write(self, state: object) -> None:
        """Put the rows back in place; rows that were never written are left."""
        if not isinstance(state, dict):
            raise self.refuse(f"is a {type(state).__name__}", "attributes by name")
        values = {attribute: from_tree(value) for attribute, value in state.items()}
        held = vars(self.target)
        for attribute, value in values.items():
            self._check(attribute, held.get(attribute), value)
        for attribute, value in values.items():
            held[attribute] = _fill(held.get(attribute), value)

    def _cut(self, value: Any) -> Any:
        if isinstance(value, dict):
            return {key: self._cut(item) for key, item in value.items()}
        buffer = self.target
        if isinstance(value, np.ndarray) and value.shape[:1] == (buffer.buffer_size,):
            # With optimize_memory_usage the row behind the last one holds its next observation.
            return value[: buffer.buffer_size if buffer.full else buffer.pos + 1]
        return value

    def _check(self, path: str, current: Any, value: Any) -> None:
        if isinstance(value, dict) and isinstance(current, dict):
            for key, item in value.items():
                self._check(f"{path}[{key!r}]", current.get(key), item)
        elif isinstance(value, np.ndarray):
            is_alike = isinstance(current, np.ndarray) and current.dtype == value.dtype
            if not is_alike or current.shape[1:] != value.shape[1:] or len(current) < len(value):
                raise self.refuse(
                    f"has {path} of shape {value.shape} and dtype {value.dtype}",
                    f"what fits into {getattr(current, 'shape', current)}",
                )


def _fill(current: Any, value: Any) -> Any:
    """Return the new value of an attribute of a buffer: arrays are filled in place."""
    if isinstance(value, dict):
        return {key: _fill(current[key], item) for key, item in value.items()}
    if isinstance(value, np.ndarray):
        current[: len(value)] = value
        return current
    return value


class TensorsPart(TargetPart):
    """Tensors in attributes of an object that are no parameters of a module."""

    def __init__(self, name: str, target: Any, attributes: Sequence[str]) -> None:
        super().__init__(name, target)
        self._attributes = tuple(attributes)

    @property
    def device(self) -> str:  # type: ignore[override]
        """Where the tensors lie."""
        return describe_devices(getattr(self.target, each).device for each in self._attributes)

    def read(self) -> object:
        """Return the tensors by name."""
        return {
            each: tensor_to_tree(getattr(self.target, each).detach(), f"{self.name}.{each}")
            for each in self._attributes
        }

    def write(self, state: object) -> None:
        """Put the tensors back; in place where the shape is the same, so that an optimiser goes on to train it."""
        if not isinstance(state, dict) or set(state) != set(self._attributes):
            raise self.refuse("has other names", f"the tensors {', '.join(self._attributes)}")
        for name, value in state.items():
            current, kept = getattr(self.target, name), tensor_from_tree(value)
            with torch.no_grad():
                if current.shape == kept.shape:
                    current.copy_(kept)
                else:
                    setattr(self.target, name, kept.to(current.device))


class SimulatorPart(TargetPart):
    """The MuJoCo simulation in an attribute of an environment: inputs of its next step, and its outputs."""

    def __init__(self, name: str, target: Any, attribute: str) -> None:
        super().__init__(name, target)
        self._simulator = Simulator(target, attribute)

    def read(self) -> object:
        """Return inputs by name and all outputs in one array."""
        return copy_tree(dict(self._simulator.read()))

    def write(self, state: object) -> None:
        """Put inputs and outputs back in place."""
        if not isinstance(state, dict) or set(state) != set(self._simulator.read()):
            raise self.refuse("has other fields", "those of the MjData that is there")
        self._simulator.put(state)
