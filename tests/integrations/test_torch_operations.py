"""Operations of torch that may vary are listed as they are dispatched, and those that the policy holds do not vary."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest

pytestmark = pytest.mark.heavy

torch = pytest.importorskip("torch", reason="needs the extra twice[torch]")

from twice.integrations import torch_operations  # noqa: E402
from twice.recorder.numeric_guard import NumericGuard  # noqa: E402

THREADS = 2


@pytest.fixture(autouse=True)
def restored() -> Iterator[None]:
    threads = torch.get_num_threads()
    torch.set_num_threads(THREADS)
    yield
    torch.use_deterministic_algorithms(False)
    torch.set_num_threads(threads)


@pytest.fixture
def audit() -> Iterator[Any]:
    started = torch_operations.begin()
    yield started
    started.end()


def indexed(rows: int = 50) -> Any:
    """Return the gradient of ``x[indices]``, whose rows several threads add to."""
    torch.manual_seed(0)
    values = torch.randn(rows, 64, requires_grad=True)
    indices, weights = torch.randint(0, rows, (4096,)), torch.randn(4096, 64)
    (values[indices] * weights).sum().backward()
    return values.grad


def listed(audit: Any) -> list[tuple[object, object, object, object]]:
    return [
        (one["operation"], one["device"], one["deterministic"], one["count"])
        for one in audit.describe()
    ]


def test_every_operator_of_the_table_is_one_of_torch() -> None:
    unknown = [
        name
        for name in torch_operations.list_operations()
        if not hasattr(torch.ops.aten, name) and not hasattr(torch.ops.aten, f"{name}_")
    ]

    assert unknown == []


def test_every_condition_reads_arguments_that_the_operator_has() -> None:
    needed = {
        "accumulates": "accumulate", "overwrites": "accumulate", "adds": "reduce", "multiplies": "reduce",
        "source is a tensor": "src", "keeps the maximum": "mode", "weighted": "weights", "gives indices": "dim",
    }  # fmt: skip
    for name, rules in torch_operations.list_operations().items():
        packet = getattr(torch.ops.aten, name, None) or getattr(torch.ops.aten, f"{name}_")
        given = {
            argument.name
            for overload in packet.overloads()
            for argument in getattr(packet, overload)._schema.arguments
        }
        for rule in rules:
            assert needed.get(rule.when, "self") in {*given, "self"}, (name, rule.when)


@pytest.mark.parametrize("warn_only", [True, False])
def test_the_gradient_of_an_index_is_listed_and_one_result_where_it_is_held(
    audit: Any, warn_only: bool
) -> None:
    torch.use_deterministic_algorithms(True, warn_only=warn_only)

    distinct = {indexed().numpy().tobytes() for _ in range(40)}

    assert len(distinct) == 1
    assert listed(audit) == [("index_put", "cpu", True, 40)]


def test_the_line_of_the_program_is_named_for_what_its_backward_pass_calls(audit: Any) -> None:
    indexed()

    (one,) = audit.describe()
    assert str(one["where"]).startswith(__file__)
    assert (one["operation"], one["deterministic"]) == ("index_put", False)


def test_what_only_warns_is_not_deterministic(audit: Any) -> None:
    torch.use_deterministic_algorithms(True, warn_only=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what is shown here is that a warning holds nothing
        torch.zeros(5).put_(torch.tensor([1, 1]), torch.tensor([1.0, 2.0]))

    assert listed(audit) == [("put", "cpu", False, 1)]


def test_one_thread_of_a_processor_does_not_vary(audit: Any) -> None:
    torch.set_num_threads(1)

    indexed()

    assert listed(audit) == [("index_put", "cpu", True, 1)]


def test_calls_that_do_not_vary_on_a_processor_are_not_listed(audit: Any) -> None:
    torch.zeros(5).index_add_(0, torch.tensor([1, 1]), torch.ones(2))
    torch.cumsum(torch.randn(4), 0)
    torch.nn.functional.conv1d(torch.ones(1, 1, 8), torch.ones(1, 1, 3))
    torch.zeros(5).put_(torch.tensor([1]), torch.tensor([1.0]), accumulate=True)

    assert listed(audit) == [("put", "cpu", False, 1)]


@pytest.mark.parametrize(
    ("name", "given", "varies"),
    [
        ("index_put", {"accumulate": True}, False),
        ("index_put", {"accumulate": False}, True),
        ("scatter_add", {}, True),
        ("scatter", {"value": 1}, False),
        ("scatter", {"src": 1}, True),
        ("scatter_reduce", {"reduce": "amax"}, False),
        ("scatter_reduce", {"reduce": "mean"}, True),
        ("scatter_reduce", {"reduce": "prod"}, True),
        ("bincount", {"weights": None}, False),
        ("bincount", {"weights": 1}, True),
        ("median", {}, False),
        ("median", {"dim": 0}, True),
        ("cumsum", {"self": torch.ones(2)}, True),
        ("cumsum", {"self": torch.ones(2, dtype=torch.int64)}, False),
        ("_embedding_bag_backward", {"mode": 0}, False),
        ("_embedding_bag_backward", {"mode": 2}, True),
        ("bmm", {"self": torch.ones(1, 2, 2)}, False),
        ("bmm", {"self": torch.ones(1, 2, 2).to_sparse()}, True),
    ],
)
def test_calls_on_a_gpu_are_told_by_their_arguments(
    name: str, given: dict[str, object], varies: bool
) -> None:
    rules = torch_operations.list_operations()[name]

    assert any(rule.varies(given, "cuda") for rule in rules) == varies


def test_attention_is_held_by_an_error_and_not_by_a_warning() -> None:
    (rule,) = torch_operations.list_operations()["_scaled_dot_product_flash_attention_backward"]
    states = []
    for on, warn_only in ((False, False), (True, True), (True, False)):
        torch.use_deterministic_algorithms(on, warn_only=warn_only)
        states.append(rule.is_held("cuda"))

    assert states == [False, False, True]


def test_a_compiled_function_is_compiled_under_the_audit(audit: Any) -> None:
    traced: list[bool] = []

    def see(graph: Any, _inputs: Any) -> Any:
        traced.append(True)
        return graph.forward

    doubled = torch.compile(lambda given: given * 2, backend=see)

    assert doubled(torch.ones(2)).tolist() == [2.0, 2.0]
    assert traced == [True]
    assert listed(audit) == []


def test_an_operator_that_takes_functions_goes_on(audit: Any) -> None:
    found = torch.cond(
        torch.tensor(True), lambda given: given + 1, lambda given: given - 1, (torch.ones(1),)
    )

    assert found.tolist() == [2.0]
    assert listed(audit) == []


def test_results_are_those_without_the_audit() -> None:
    torch.use_deterministic_algorithms(True)
    bare = indexed()
    audit = torch_operations.begin()
    seen = indexed()
    audit.end()

    assert torch.equal(bare, seen)
    assert torch.utils._python_dispatch._get_current_dispatch_mode() is None


def test_the_guard_says_in_a_sentence_what_was_not_held() -> None:
    guard = NumericGuard("", audits=True)
    guard.begin(is_recording=True)
    indexed()
    (said,) = guard.list_varying()
    operations: Any = guard.describe()["operations"]
    guard.end()

    assert said.startswith("not deterministic, by PyTorch's own list: index_put on cpu, 1 call at ")
    assert [one["operation"] for one in operations] == ["index_put"]


def test_a_guard_on_another_thread_says_that_nothing_is_listed() -> None:
    guard = NumericGuard("", audits=True)
    thread = threading.Thread(target=partial(guard.begin, is_recording=True))
    thread.start()
    thread.join()

    assert list(guard.list_varying()) == [
        "operations of torch are not listed: another thread than the main one imported it"
    ]
    guard.end()
