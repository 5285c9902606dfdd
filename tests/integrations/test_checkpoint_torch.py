"""Modules, optimisers, schedulers, scalers and generators of torch come back whole, and misfits are named."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytestmark = pytest.mark.heavy

torch = pytest.importorskip("torch", reason="needs the extra twice[torch]")

from torch import nn  # noqa: E402
from torch.optim import lr_scheduler  # noqa: E402

from twice.errors import CheckpointDevice, CheckpointUnfit, StateNotANumber  # noqa: E402
from twice.foundation.encoding import encode  # noqa: E402
from twice.integrations.checkpoints import Checkpoint, find_parts  # noqa: E402
from twice.integrations.checkpoints import file as checkpoint_file  # noqa: E402
from twice.integrations.checkpoints.trees import from_tree, to_tree  # noqa: E402

STEPS = 6
STOP = 3


@pytest.fixture(autouse=True)
def process_generators() -> Iterator[None]:
    kept = random.getstate(), np.random.get_state(), torch.get_rng_state()
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # two wait for one another where other tests compute
    yield
    torch.set_num_threads(threads)
    random.setstate(kept[0])
    np.random.set_state(kept[1])
    torch.set_rng_state(kept[2])


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "c.checkpoint"


class Net(nn.Module):
    """A net with everything that a state_dict leaves out."""

    def __init__(self, width: int = 5, dtype: Any = None) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(4, width, dtype=dtype), nn.BatchNorm1d(width, dtype=dtype), nn.Dropout(0.3),
            nn.Linear(width, 1, dtype=dtype),
        )  # fmt: skip
        self.register_buffer("moving", torch.zeros(1, dtype=dtype), persistent=False)
        self.seen = 0

    def forward(self, inputs: Any) -> Any:
        self.moving = self.moving * 0.5 + inputs.mean()
        return self.layers(inputs) + 0.01 * self.moving

    def get_extra_state(self) -> Any:
        return {"seen": self.seen}

    def set_extra_state(self, state: Any) -> None:
        self.seen = state["seen"]


def train(
    path: Path,
    make_optimizer: Callable[..., Any],
    make_scheduler: Callable[..., Any],
    stop: int,
    dtype: Any = None,
) -> bytes:
    torch.manual_seed(1)
    model = Net(dtype=dtype)
    optimizer = make_optimizer(model.parameters(), lr=0.05)
    scheduler = make_scheduler(optimizer)
    noise = torch.Generator().manual_seed(5)
    targets = {"model": model, "optimizer": optimizer, "scheduler": scheduler, "noise": noise}
    checkpoint = Checkpoint(path, **targets)
    for step in range(checkpoint.resume(), stop):
        inputs = torch.randn(8, 4, generator=noise, dtype=dtype)

        def measure(inputs: Any = inputs) -> Any:
            optimizer.zero_grad()
            loss = model(inputs).pow(2).mean()
            loss.backward()
            return loss

        loss = optimizer.step(measure)
        if isinstance(scheduler, lr_scheduler.ReduceLROnPlateau):
            scheduler.step(loss.item())
        else:
            scheduler.step()
        model.seen += 1
        if step + 1 == STOP:
            checkpoint.save(STOP)
    return encode({name: find_parts(name, one)[name].read() for name, one in targets.items()})


def constant(optimizer: Any) -> Any:
    return lr_scheduler.ConstantLR(optimizer)


OPTIMIZERS: list[Callable[..., Any]] = [
    torch.optim.SGD,
    lambda parameters, lr: torch.optim.SGD(parameters, lr, momentum=0.9, nesterov=True),
    lambda parameters, lr: torch.optim.Adam(parameters, lr, amsgrad=True),
    torch.optim.AdamW,
    torch.optim.Adagrad,
    torch.optim.RMSprop,
    torch.optim.NAdam,
    torch.optim.Rprop,
    torch.optim.ASGD,
    torch.optim.LBFGS,
]
SCHEDULERS: list[Callable[..., Any]] = [
    lambda one: lr_scheduler.OneCycleLR(one, 0.1, total_steps=20),
    lambda one: lr_scheduler.MultiStepLR(one, [2, 4]),
    lambda one: lr_scheduler.CosineAnnealingWarmRestarts(one, 3),
    lambda one: lr_scheduler.CyclicLR(one, 0.01, 0.1, cycle_momentum=False),
    lambda one: lr_scheduler.LambdaLR(one, lambda step: 0.9**step),
    lambda one: lr_scheduler.ReduceLROnPlateau(one, patience=0),
    lambda one: lr_scheduler.SequentialLR(
        one, [lr_scheduler.ConstantLR(one), lr_scheduler.ExponentialLR(one, 0.5)], milestones=[2]
    ),
]


@pytest.mark.parametrize("make", OPTIMIZERS)
def test_an_optimizer_continues(tmp_path: Path, make: Callable[..., Any]) -> None:
    whole = train(tmp_path / "whole", make, constant, STEPS)

    train(tmp_path / "stopped", make, constant, STOP)
    assert train(tmp_path / "stopped", make, constant, STEPS) == whole


@pytest.mark.parametrize("make", SCHEDULERS)
def test_a_scheduler_continues(tmp_path: Path, make: Callable[..., Any]) -> None:
    whole = train(tmp_path / "whole", torch.optim.SGD, make, STEPS)

    train(tmp_path / "stopped", torch.optim.SGD, make, STOP)
    assert train(tmp_path / "stopped", torch.optim.SGD, make, STEPS) == whole


def test_a_training_in_bfloat16_continues(tmp_path: Path) -> None:
    arguments = (torch.optim.Adam, constant)
    whole = train(tmp_path / "whole", *arguments, STEPS, torch.bfloat16)

    train(tmp_path / "stopped", *arguments, STOP, torch.bfloat16)
    assert train(tmp_path / "stopped", *arguments, STEPS, torch.bfloat16) == whole


def test_gradients_modes_and_frozen_parameters_come_back(path: Path) -> None:
    model = Net()
    model(torch.ones(3, 4)).sum().backward()
    model.layers[1].eval()
    model.layers[0].weight.requires_grad_(False)
    Checkpoint(path, model=model).save(1)

    again = Net()
    Checkpoint(path, model=again).resume()

    assert torch.equal(again.layers[3].weight.grad, model.layers[3].weight.grad)
    assert [one.training for one in again.modules()] == [one.training for one in model.modules()]
    assert not again.layers[0].weight.requires_grad
    assert torch.equal(again.moving, model.moving)


def test_tied_weights_stay_tied(path: Path) -> None:
    def make() -> Any:
        net = nn.Sequential(nn.Linear(3, 3, bias=False), nn.Linear(3, 3, bias=False))
        net[1].weight = net[0].weight
        return net

    model, again = make(), make()
    Checkpoint(path, model=model).save(1)
    Checkpoint(path, model=again).resume()

    assert again[1].weight is again[0].weight
    assert torch.equal(again[0].weight, model[0].weight)


def test_a_scaler_continues(path: Path) -> None:
    scaler = torch.amp.GradScaler("cpu", init_scale=8.0, growth_interval=1)
    parameter = nn.Parameter(torch.ones(2))
    optimizer = torch.optim.SGD([parameter], lr=0.1)
    scaler.scale(parameter.sum()).backward()
    scaler.step(optimizer)
    scaler.update()
    Checkpoint(path, scaler=scaler).save(1)

    again = torch.amp.GradScaler("cpu", init_scale=8.0, growth_interval=1)
    Checkpoint(path, scaler=again).resume()
    assert again.get_scale() == scaler.get_scale() == 16.0

    disabled = torch.amp.GradScaler("cpu", enabled=False)
    with pytest.raises(CheckpointUnfit, match="its fields are"):
        Checkpoint(path, scaler=disabled).resume()


@pytest.mark.parametrize(
    "tensor",
    [
        torch.arange(6.0).reshape(2, 3).to(torch.bfloat16),
        torch.arange(6).reshape(2, 3).t(),
        torch.randn(2, 3, 4, 5).to(memory_format=torch.channels_last),
        torch.tensor([1 + 2j]).conj(),
        torch.tensor(3.0),
        torch.empty(0, 3, dtype=torch.bfloat16),
        torch.tensor([True, False]),
        torch.arange(4.0).to(torch.float8_e4m3fn),
        torch.arange(3.0).expand(2, 3),
    ],
)
def test_a_tensor_comes_back_from_its_tree(tensor: Any) -> None:
    again = from_tree(to_tree(tensor, "tensor"))

    assert (again.dtype, again.shape, again.device) == (tensor.dtype, tensor.shape, tensor.device)
    assert torch.equal(
        again.contiguous().view(-1).view(torch.uint8),
        tensor.resolve_conj().contiguous().view(-1).view(torch.uint8),
    )
    if torch.ops.aten.is_non_overlapping_and_dense.default(tensor):
        assert again.stride() == tensor.stride()


def test_a_state_is_a_copy() -> None:
    model = nn.Linear(2, 2)
    (part,) = find_parts("model", model).values()
    before = part.read()
    encoded = encode(before)
    with torch.no_grad():
        model.weight.add_(1)

    assert encode(before) == encoded


def test_a_sparse_tensor_is_refused() -> None:
    with pytest.raises(CheckpointUnfit, match="sparse_coo"):
        to_tree(torch.eye(2).to_sparse(), "tensor")


def test_a_module_without_shapes_is_refused(path: Path) -> None:
    with pytest.raises(CheckpointUnfit, match="weight has no shape before the first batch"):
        Checkpoint(path, model=nn.LazyLinear(2)).save(1)


MISFITS: list[tuple[Callable[[], Any], Callable[[], Any], str]] = [
    (Net, lambda: Net(width=6), r"has layers.* as torch\.float32 of the shape \[5"),
    (Net, lambda: Net(dtype=torch.float64), r"as torch\.float32"),
    (lambda: nn.Linear(2, 2), lambda: nn.Linear(2, 2, bias=False), "has the parameters and buffers 'bias'"),
    (lambda: nn.Linear(2, 2), lambda: nn.Bilinear(2, 2, 2), "as a Linear, and the program passes a Bilinear"),
    (lambda: torch.optim.SGD(Net().parameters()), lambda: torch.optim.Adam(Net().parameters()), "as a SGD"),
    (lambda: torch.optim.SGD(Net().parameters()), lambda: torch.optim.SGD(Net(6).parameters()), "with the shapes"),
]  # fmt: skip


@pytest.mark.parametrize(("make", "make_other", "named"), MISFITS)
def test_a_misfit_is_named(
    path: Path, make: Callable[[], Any], make_other: Callable[[], Any], named: str
) -> None:
    Checkpoint(path, thing=make()).save(1)
    other = make_other()
    before = encode(find_parts("thing", other)["thing"].read())

    with pytest.raises(CheckpointUnfit, match=named):
        Checkpoint(path, thing=other).resume()
    assert encode(find_parts("thing", other)["thing"].read()) == before


@pytest.mark.parametrize(
    "make",
    [
        lambda: nn.Linear(2, 2),
        lambda: torch.optim.SGD(nn.Linear(2, 2).parameters()),
        lambda: constant(torch.optim.SGD(nn.Linear(2, 2).parameters())),
        torch.Generator,
    ],
)
@pytest.mark.parametrize("state", [None, [], {}, {"tensors": 1}, {"groups": [1]}, np.zeros(3)])
def test_what_is_no_state_is_refused(make: Callable[[], Any], state: object) -> None:
    (part,) = find_parts("thing", make()).values()

    with pytest.raises(CheckpointUnfit, match="The state of thing"):
        part.write(state)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_a_nan_in_weights_is_not_written(path: Path, dtype: Any) -> None:
    model = Net(dtype=dtype)
    with torch.no_grad():
        model.layers[0].weight[1, 2] = float("nan")

    with pytest.raises(StateNotANumber, match=r"model\.tensors\.layers\.0\.weight holds a NaN"):
        Checkpoint(path, model=model).save(1)


def test_another_device_is_named(path: Path) -> None:
    Checkpoint(path, model=nn.Linear(2, 2)).save(1)

    with pytest.raises(
        CheckpointDevice, match="holds model from cpu, and the program has it on meta"
    ):
        Checkpoint(path, model=nn.Linear(2, 2, device="meta")).resume()


def test_the_generator_of_torch_is_a_part(path: Path) -> None:
    torch.manual_seed(3)
    Checkpoint(path).save(1)
    expected = torch.rand(3)

    Checkpoint(path).resume()
    assert torch.equal(torch.rand(3), expected)
    names = [one.name for one in checkpoint_file.read_header(path).entries]
    assert names[:3] == ["generators.random", "generators.numpy", "generators.torch"]
