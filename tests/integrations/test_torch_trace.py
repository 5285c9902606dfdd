"""Operations of torch are traced with what they read and give, and the trace changes nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

pytestmark = pytest.mark.heavy

torch = pytest.importorskip("torch", reason="needs the extra twice[torch]")

from twice.diagnosis.operations.stream import (  # noqa: E402
    OperationStream,
    Pair,
    Parting,
    compare_streams,
)
from twice.integrations import torch_trace  # noqa: E402


@pytest.fixture(autouse=True)
def restored() -> Iterator[None]:
    state = torch.random.get_rng_state()
    torch.manual_seed(0)
    yield
    torch.random.set_rng_state(state)


def trace(program: Callable[[], object], *asked: int) -> OperationStream:
    """Trace a program from its first operation on, with inputs."""
    started = torch_trace.begin(asked or (0,))
    try:
        program()
    finally:
        started.end()
    return OperationStream.from_message({"traced": started.describe(), "reproduces": True})


def compare(one: Callable[[], object], two: Callable[[], object]) -> Parting:
    return compare_streams(trace(one), trace(two), (frozenset(), frozenset()))


def list_names(stream: OperationStream) -> list[str]:
    return [stream.name(at).split(".")[1] for at in range(len(stream))]


def make_network() -> Any:
    torch.manual_seed(1)
    return torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.Dropout(0.5), torch.nn.Linear(3, 1))


def train(network: Any, steps: int = 2) -> Any:
    torch.manual_seed(2)
    optimiser, rows = torch.optim.Adam(network.parameters()), torch.ones(5, 4)
    for _ in range(steps):
        optimiser.zero_grad()
        network(rows).square().mean().backward()
        optimiser.step()
    return torch.cat([one.detach().flatten() for one in network.parameters()])


def test_a_traced_training_gives_the_same_weights_and_leaves_the_generator_where_it_would_be() -> (
    None
):
    plain = train(make_network()), torch.random.get_rng_state()
    traced: list[Any] = []
    stream = trace(lambda: traced.append(train(make_network())))
    assert torch.equal(plain[0], traced[0])
    assert torch.equal(plain[1], torch.random.get_rng_state())
    assert {"addmm", "mm", "sqrt", "bernoulli_"} <= {*list_names(stream)}


def test_two_traces_of_one_training_agree() -> None:
    parting = compare(lambda: train(make_network()), lambda: train(make_network()))
    assert parting.first is None


def test_results_alone_are_traced_where_nothing_is_asked_for() -> None:
    started = torch_trace.begin()
    torch.ones(3).add(1)
    started.end()
    stream = OperationStream.from_message({"traced": started.describe(), "reproduces": True})
    assert list_names(stream) == ["ones", "add"]
    assert not stream.inputs.any()
    assert stream.outputs.all()


def test_inputs_are_read_before_an_operation_writes_into_them() -> None:
    values = torch.ones(3)
    first = trace(lambda: values.add_(1))
    again = trace(lambda: values.sub_(1).add_(1))
    assert first.inputs[0] == again.inputs[1]
    assert first.outputs[0] == again.outputs[1]


def test_a_write_through_a_view_shows_in_who_reads_the_whole() -> None:
    def run(value: float) -> None:
        whole = torch.zeros(4)
        whole[1:2].fill_(value)
        whole.sum()

    parting = compare(lambda: run(1.0), lambda: run(2.0))
    assert parting.operation is None
    assert parting.other is not None


def test_a_transposed_input_counts_with_its_strides() -> None:
    square = torch.eye(3)
    one, two = trace(lambda: square.exp()), trace(lambda: square.t().exp())
    assert one.inputs[0] != two.inputs[1]
    assert one.outputs[0] == two.outputs[1]


def test_zeros_of_both_signs_and_types_of_numbers_are_told_apart() -> None:
    values = torch.ones(2)

    def add(given: object) -> Callable[[], object]:
        return lambda: values.add(given)

    inputs = {int(trace(add(given)).inputs[0]) for given in (0, 0.0, -0.0, False)}
    assert len(inputs) == 4


def test_memory_that_nothing_wrote_is_not_compared_and_its_reader_is_not_blamed() -> None:
    def run(left: float) -> None:
        memory = torch.empty(8)
        memory.numpy()[:] = left  # as another allocation would leave it
        memory.new_empty(3)
        memory.sum()

    parting = compare(lambda: run(1.0), lambda: run(2.0))
    assert parting.operation is None
    assert parting.other == parting.first == Pair(3, 3)  # behind the view that numpy took


def test_an_operation_that_overwrites_memory_does_not_read_it() -> None:
    def run(left: float) -> None:
        memory = torch.empty(8)
        memory.numpy()[:] = left
        memory.normal_()
        torch.add(torch.ones(8), 1, out=memory)

    assert compare(lambda: run(1.0), lambda: run(1.0)).first is not None  # the generator moved
    torch.manual_seed(3)
    one = trace(lambda: run(1.0))
    torch.manual_seed(3)
    two = trace(lambda: run(2.0))
    assert (one.inputs == two.inputs).all()
    assert (one.outputs == two.outputs).all()


def test_the_position_of_the_generator_is_an_input_of_what_draws() -> None:
    own = torch.Generator().manual_seed(5)
    for draw in (lambda: torch.randn(3), lambda: torch.rand(3, generator=own)):
        parting = compare(draw, draw)
        assert (parting.operation, parting.other) == (None, Pair(0, 0))


def test_lists_that_an_operation_writes_are_among_its_results() -> None:
    def run(step: float) -> None:
        torch._foreach_add_([torch.ones(2), torch.ones(3)], step)

    one, two = trace(lambda: run(1.0)), trace(lambda: run(2.0))
    assert list_names(one)[-1] == "_foreach_add_"
    assert one.outputs[-1] != two.outputs[-1]


def test_bytes_of_sparse_tensors_are_not_claimed_to_be_equal() -> None:
    sparse = torch.eye(3).to_sparse()
    assert trace(lambda: torch.sparse.mm(sparse, torch.ones(3, 1))).inputs[-1] == 0


def test_a_captured_operation_has_module_line_values_and_origin() -> None:
    network = make_network()
    names = list_names(trace(lambda: train(network, 1)))
    forward, backward = names.index("addmm"), len(names) - 1 - names[::-1].index("mm")
    made = trace(lambda: train(network, 1), forward, backward).captured
    assert [one["module"] for one in made] == ["Sequential.0", "Sequential.0"]
    assert [one["node"] for one in made] == ["", "AddmmBackward0"]
    assert {one["line"].partition(":")[0] for one in made} == {__file__}
    (output,) = made[0]["outputs"]
    assert np.frombuffer(output["bytes"], output["dtype"]).size == 15
    assert [one["origin"] for one in made[0]["inputs"]] == ["outside", "computed", "outside"]


def test_memory_that_nothing_wrote_is_told_from_memory_that_was() -> None:
    def run() -> None:
        left, drawn = torch.empty(4), torch.empty(4).normal_()
        left.exp()
        drawn.exp()

    made = trace(run, 3, 4).captured
    assert [one["inputs"][0]["origin"] for one in made] == ["unwritten", "computed"]


def test_compiled_functions_run_under_a_trace_and_are_said_to_be_missing() -> None:
    network = make_network()

    def forward(rows: Any) -> Any:
        hidden = network[0](rows)
        torch._dynamo.graph_break()
        return network[2](hidden.relu())

    compiled = torch.compile(forward, backend="eager")

    def run() -> None:
        compiled(torch.ones(1, 4)).sum().backward()

    stream = trace(run)
    assert "operations inside of torch.compile were not traced" in stream.notes
