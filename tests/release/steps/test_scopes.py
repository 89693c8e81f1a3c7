"""What a step binds carries no graph into the next step, and what carries one all the same is told."""

from __future__ import annotations

import asyncio
import collections
import contextlib
import gc
import sys
import weakref
from dataclasses import dataclass
from typing import Any

import pytest
import torch
from torch import nn

from tenure.errors import UsageError
from tenure.release.steps import scopes
from tenure.release.steps.scopes import CarriedName, ScopeOutcome, StepScope, step_scope


@pytest.fixture
def model(device: str) -> nn.Module:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 4)).to(device)


@pytest.fixture
def batch(device: str) -> torch.Tensor:
    return torch.ones(4, 8, device=device)


@pytest.fixture(autouse=True)
def nothing_is_collected() -> Any:
    """What the scope frees goes by reference counts alone."""
    gc.disable()
    yield
    gc.enable()


@dataclass
class Output:
    loss: torch.Tensor
    logits: torch.Tensor


Pair = collections.namedtuple("Pair", ["loss", "logits"])


def test_names_bound_inside_keep_their_values_and_lose_their_graphs(model: nn.Module, batch: torch.Tensor) -> None:
    with step_scope() as scope:
        out = model(batch)
        loss = out.mean()
        loss.backward()
        expected = float(loss.detach())

    assert (loss.grad_fn, out.grad_fn, out.requires_grad) == (None, None, False)
    assert float(loss) == expected
    assert scope.outcome == ScopeOutcome(
        (CarriedName("out", "Tensor", 1, 1, 0, 64), CarriedName("loss", "Tensor", 1, 1, 0, 4))
    )
    assert str(scope.outcome).splitlines() == [
        "`out` (Tensor): 1 tensor with a graph, 64 B, cut",
        "`loss` (Tensor): 1 tensor with a graph, 4 B, cut",
    ]


def test_what_the_graph_alone_kept_is_freed_at_the_end_of_the_scope(model: nn.Module, batch: torch.Tensor) -> None:
    for _ in range(3):
        with step_scope():
            hidden = model[0](batch)
            seen = weakref.ref(hidden)
            loss = torch.tanh(hidden).sum()
            del hidden
        assert seen() is None
    assert loss.grad_fn is None


@pytest.mark.parametrize(
    "pack",
    [
        lambda loss, logits: {"loss": loss, "more": [logits]},
        lambda loss, logits: [loss, (logits, 3)],
        lambda loss, logits: (loss, {"logits": logits}),
        lambda loss, logits: Pair(loss, logits),
        lambda loss, logits: Output(loss, logits),
        lambda loss, logits: collections.OrderedDict(loss=loss, logits=logits),
        lambda loss, logits: collections.deque([loss, logits]),
    ],
)
def test_containers_that_the_name_alone_holds_are_cut_inside(pack: Any, model: nn.Module, batch: torch.Tensor) -> None:
    with step_scope() as scope:
        retval = pack(model(batch).mean(), model(batch))
        kind = type(retval)

    assert type(retval) is kind
    assert tensors_with_graph(retval) == 0
    assert scope.outcome == ScopeOutcome((CarriedName("retval", kind.__name__, 2, 2, 0, 68),))


def tensors_with_graph(value: Any) -> int:
    if isinstance(value, torch.Tensor):
        return int(value.grad_fn is not None)
    if isinstance(value, dict):
        return sum(map(tensors_with_graph, value.values()))
    if isinstance(value, list | tuple | collections.deque):
        return sum(map(tensors_with_graph, value))
    return sum(map(tensors_with_graph, vars(value).values())) if hasattr(value, "__dict__") else 0


def test_a_flat_dict_of_results_is_cut_in_place_each_tensor_once(model: nn.Module, batch: torch.Tensor) -> None:
    with step_scope() as scope:
        loss = model(batch).mean()
        results = {"loss": loss, "same": loss, "other": model(batch), "stats": {"count": 8}, "parts": [1, 2]}
        before = id(results)

    assert (id(results), results["stats"], results["parts"]) == (before, {"count": 8}, [1, 2])
    assert results["same"] is results["loss"] is loss
    assert tensors_with_graph(results) == 0
    assert scope.outcome == ScopeOutcome(
        (CarriedName("loss", "Tensor", 1, 1, 0, 4), CarriedName("results", "dict", 2, 2, 0, 68))
    )


def test_a_list_inside_a_dict_that_has_no_graph_of_its_own_hides_none(model: nn.Module, batch: torch.Tensor) -> None:
    with step_scope():
        plain = {"steps": [1, 2, 3], "deep": [[model(batch)]], "loss": model(batch).mean()}

    assert tensors_with_graph(plain) == 0


def test_two_names_for_one_container_and_one_tensor_still_name_one(model: nn.Module, batch: torch.Tensor) -> None:
    with step_scope() as scope:
        retval = {"loss": model(batch).mean()}
        same = retval
        loss = retval["loss"]

    assert retval is same
    assert retval["loss"] is loss
    assert loss.grad_fn is None
    assert [each.num_survived for each in scope.outcome.carried] == [0, 0, 0]


def test_a_list_that_somebody_else_holds_is_left_as_it_is_and_told(model: nn.Module, batch: torch.Tensor) -> None:
    history: list[Any] = []
    with step_scope() as scope:
        outputs = [model(batch)]
        history.append(outputs)

    assert outputs[0].grad_fn is not None
    outcome = scope.outcome
    assert outcome == ScopeOutcome((CarriedName("outputs", "list", 1, 0, 1, 64, "something else holds it too", 64),))
    assert str(outcome).splitlines()[0].endswith("; 0 cut: something else holds it too")
    assert (outcome.before_bytes, outcome.after_bytes) == (64, 64)
    assert sum(survivor.bytes for survivor in outcome.survivors) == 64


def test_a_graph_that_somebody_else_holds_survives_and_its_name_is_told(model: nn.Module, batch: torch.Tensor) -> None:
    kept = []
    with step_scope() as scope:
        loss = model(batch).mean()
        kept.append(loss)

    assert loss.grad_fn is None
    assert kept[0].grad_fn is not None
    outcome = scope.outcome
    assert (outcome.survived, outcome.before_bytes, outcome.after_bytes) == (("loss",), 4, 4)
    assert str(outcome).splitlines()[0].endswith("cut; 1 of them live on: someone else holds them")
    assert [(each.what, each.bytes, each.num_storages) for each in outcome.survivors] == [("`loss`", 4, 1)]
    assert outcome.survivors[0].path[-1] == "[0]"
    assert outcome.survivors[0].cut[0].startswith("`kept` in test_a_graph_that_somebody_else_holds_survives")
    assert "survived    4 B on" in str(outcome)


def test_who_holds_a_survivor_is_asked_of_a_census_only_where_there_is_one_and_when_asked(
    model: nn.Module, batch: torch.Tensor, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(**_: object) -> None:
        raise AssertionError("a census was taken")

    kept = []
    with step_scope() as good:
        loss = model(batch).mean()
    with step_scope() as bad:
        loss = model(batch).mean()
        kept.append(loss)

    monkeypatch.setattr("tenure.release.verify.take_census", fail)
    assert (good.outcome.survivors, str(good.outcome)) == ((), "`loss` (Tensor): 1 tensor with a graph, 4 B, cut")
    assert (loss.grad_fn, bad.outcome.survived) == (None, ("loss",))
    with pytest.raises(AssertionError, match="a census was taken"):
        _ = bad.outcome.survivors
    kept.clear()
    assert bad.outcome.survivors == ()


def test_a_tensor_that_only_the_steps_names_have_is_cut_where_it_stands(model: nn.Module, batch: torch.Tensor) -> None:
    with step_scope() as scope:
        out = model(batch)
        loss = out.mean()
        results = {"loss": loss, "count": 3}
        loss.backward()
        before = id(out), id(loss)

    assert (id(out), id(loss), results["loss"] is loss) == (*before, True)
    assert tensors_with_graph([out, results]) == 0
    assert [(each.num_graphs, each.num_cut, each.num_survived) for each in scope.outcome.carried] == [(1, 1, 0)] * 3


def test_a_tensor_that_a_kept_graph_has_saved_stays_as_that_graph_needs_it(device: str) -> None:
    def second_derivative(scoped: bool) -> torch.Tensor:
        weight = torch.ones(3, device=device, requires_grad=True)
        kept = []
        with step_scope() if scoped else contextlib.nullcontext():
            hidden = weight * 2
            kept.append(hidden.pow(3).sum())
        assert (hidden.grad_fn is None) is scoped
        (first,) = torch.autograd.grad(kept[0], weight, create_graph=True)
        return torch.autograd.grad(first.sum(), weight)[0]

    assert second_derivative(scoped=True).tolist() == second_derivative(scoped=False).tolist() == [48.0] * 3


def test_a_number_that_lies_in_a_storage_as_large_as_its_input_gets_one_of_its_own(device: str) -> None:
    weight = torch.ones(1000, device=device, requires_grad=True)
    with step_scope():
        loss = nn.functional.mse_loss(weight * 2, torch.zeros_like(weight))

    assert (float(loss), loss.grad_fn, loss.untyped_storage().nbytes()) == (4.0, None, 4)


def test_names_bound_before_the_scope_and_names_to_keep_are_not_touched(model: nn.Module, batch: torch.Tensor) -> None:
    before = model(batch)
    with step_scope(keep=("hidden",)) as scope:
        hidden = model(batch)
        loss = before.mean() + hidden.mean()

    assert loss.grad_fn is None
    assert before.grad_fn is not None
    assert hidden.grad_fn is not None
    assert [each.name for each in scope.outcome.carried] == ["loss"]


def test_a_name_of_a_number_that_lies_in_a_large_storage_gets_a_small_one(device: str) -> None:
    with step_scope():
        wide = torch.ones(1000, requires_grad=True, device=device)
        head = (wide * 2)[:3]

    assert (head.tolist(), head.untyped_storage().nbytes()) == ([2.0, 2.0, 2.0], 12)


def test_an_exception_passes_and_what_was_bound_before_it_is_cut(model: nn.Module, batch: torch.Tensor) -> None:
    scope = step_scope()
    with contextlib.suppress(ZeroDivisionError), scope:
        loss = model(batch).mean()
        _ = 1 / 0

    assert loss.grad_fn is None
    assert [each.name for each in scope.outcome.carried] == ["loss"]


def test_a_step_left_by_continue_break_and_return_is_cut_too(model: nn.Module, batch: torch.Tensor) -> None:
    outcomes = []

    def run(leave: str) -> None:
        for _ in range(2):
            with step_scope() as scope:
                loss = model(batch).mean()
                if leave == "continue":
                    continue
                if leave == "break":
                    break
            outcomes.append(scope.outcome)
        outcomes.append(scope.outcome)
        assert loss.grad_fn is None

    for leave in ("", "continue", "break"):
        run(leave)

    assert len(outcomes) == 5
    assert all([each.name for each in outcome.carried] == ["loss"] for outcome in outcomes)


def test_names_bound_in_loops_handlers_and_branches_of_the_block_are_seen(
    model: nn.Module, batch: torch.Tensor
) -> None:
    with step_scope() as scope:
        for part in batch.chunk(2):
            with contextlib.suppress(KeyError):
                first = model(part)
        try:
            _ = {}["missing"]
        except KeyError:
            second = model(batch)
        if (third := model(batch)) is not None:
            fourth, *rest = model(batch), model(batch)

    names = [each.name for each in scope.outcome.carried]
    assert sorted(names) == ["first", "fourth", "rest", "second", "third"]
    assert tensors_with_graph([first, second, third, fourth, rest]) == 0


def test_a_name_in_a_loop_behind_the_statement_that_raised_is_seen(model: nn.Module, batch: torch.Tensor) -> None:
    scope = step_scope()
    with contextlib.suppress(ZeroDivisionError), scope:
        for turn in (2, 1, 0):
            _ = 1 / turn
            late = model(batch)

    assert late.grad_fn is None


def test_variables_of_closures_and_of_modules_are_cut(model: nn.Module, batch: torch.Tensor) -> None:
    with step_scope():
        loss = model(batch).mean()

    def read() -> torch.Tensor:
        return loss

    space = run_in_module(model, batch)

    assert read().grad_fn is None
    assert (space["loss"].grad_fn, space["kept"].grad_fn) == (None, None)


def run_in_module(model: nn.Module, batch: torch.Tensor) -> dict[str, Any]:
    space: dict[str, Any] = {"step_scope": step_scope, "model": model, "batch": batch}
    exec(
        "with step_scope() as scope:\n    loss = model(batch).mean()\n"
        "def step():\n    global kept\n    with step_scope():\n        kept = model(batch).mean()\nstep()\n",
        space,
    )
    return space


def test_code_that_is_made_anew_each_time_as_a_notebooks_cells_are_is_read_right_and_kept_for_a_while_only(
    model: nn.Module, batch: torch.Tensor
) -> None:
    for number in range(300):
        space: dict[str, Any] = {"step_scope": step_scope, "model": model, "batch": batch}
        exec(f"with step_scope():\n    name_{number} = model(batch).mean()\n", space)
        assert space[f"name_{number}"].grad_fn is None

    assert len(scopes._blocks) <= 256


def test_sparse_tensors_are_cut_and_counted_by_their_parts(device: str) -> None:
    with step_scope() as scope:
        sparse = (torch.eye(4, requires_grad=True, device=device) * 2).to_sparse()
        pair = {"sparse": sparse * 2, "more": [sparse * 3]}

    assert tensors_with_graph([sparse, pair]) == 0
    assert [(each.name, each.bytes) for each in scope.outcome.carried] == [("sparse", 80), ("pair", 160)]


def test_views_that_refuse_to_tell_their_graph_are_cut_and_so_is_the_rest(device: str) -> None:
    with step_scope() as scope:
        whole = torch.ones(6, requires_grad=True, device=device) * 1
        first, second = whole.split(3)
        pair = {"first": first, "second": second}
        deep = [[first]]
        whole.mul_(2)

    assert tensors_with_graph([whole, first, second, pair, deep]) == 0
    assert [each.name for each in scope.outcome.carried] == ["whole", "first", "second", "pair", "deep"]


def test_under_a_trace_function_names_keep_their_values(model: nn.Module, batch: torch.Tensor) -> None:
    def trace(frame: Any, event: str, argument: object) -> Any:
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        for number in range(2):
            with step_scope():
                loss = model(batch).mean()
                count = number
    finally:
        sys.settrace(before)

    assert (loss.grad_fn, count) == (None, 1)


@pytest.mark.skipif(sys.version_info >= (3, 13), reason="locals() are a snapshot of their own there")
def test_a_function_that_reads_its_own_locals_is_left_alone_and_told(model: nn.Module, batch: torch.Tensor) -> None:
    with step_scope() as scope:
        loss = model(batch).mean()
        own = locals()

    assert own["loss"] is loss
    assert loss.grad_fn is not None
    assert scope.outcome.carried[0].left == "the function reads its own locals(), which would be overwritten"


def test_no_variable_outlives_the_next_binding_because_of_the_scope(model: nn.Module, batch: torch.Tensor) -> None:
    with step_scope():
        loss = model(batch).mean()
        other = torch.ones(3)
    seen = weakref.ref(other)

    del other

    assert seen() is None
    assert loss.grad_fn is None


def test_a_decorated_function_gives_its_result_back_without_graphs(model: nn.Module, batch: torch.Tensor) -> None:
    @step_scope()
    def train(inputs: torch.Tensor) -> dict[str, Any]:
        """One step."""
        out = model(inputs)
        return {"loss": out.mean(), "parts": (out, 1)}

    result = train(batch)

    assert train.__doc__ == "One step."
    assert tensors_with_graph(result) == 0
    assert train.scope.outcome == ScopeOutcome((CarriedName("the returned value", "dict", 2, 2, 0, 68),))


def test_a_decorated_coroutine_gives_its_result_back_without_graphs(model: nn.Module, batch: torch.Tensor) -> None:
    @step_scope()
    async def train() -> torch.Tensor:
        await asyncio.sleep(0)
        return model(batch).mean()

    assert asyncio.run(train()).grad_fn is None


def test_gradients_are_those_of_a_loop_without_the_scope(model: nn.Module, batch: torch.Tensor) -> None:
    def gradients(scoped: bool) -> list[torch.Tensor]:
        model.zero_grad()
        for _ in range(3):
            with step_scope() if scoped else contextlib.nullcontext():
                loss = model(batch).square().mean()
                loss.backward()
        assert (loss.grad_fn is None) is scoped
        return [parameter.grad.clone() for parameter in model.parameters()]

    assert all(map(torch.equal, gradients(scoped=False), gradients(scoped=True)))


def test_a_scope_that_no_with_statement_enters_is_refused() -> None:
    with (
        contextlib.ExitStack() as stack,
        pytest.raises(UsageError, match=r"entered by enter_context\(\), not by a `with` statement"),
    ):
        stack.enter_context(step_scope())


def test_a_generator_cannot_be_decorated_and_a_single_string_names_nothing() -> None:
    def batches() -> Any:
        yield 1

    with pytest.raises(UsageError, match="cannot decorate the generator"):
        step_scope()(batches)
    with pytest.raises(UsageError, match=r'keep=\("hidden",\)'):
        step_scope(keep="loss")
    with pytest.raises(UsageError, match=r"takes names, as in .*; 3 was given"):
        step_scope(keep=3)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="decorates a function, not a int"):
        step_scope()(3)  # type: ignore[type-var]


def test_a_step_without_graphs_has_an_empty_outcome(batch: torch.Tensor) -> None:
    with step_scope() as scope:
        total = batch.sum()
        name, parts = "run", [1, 2.0, batch]

    assert isinstance(scope, StepScope)
    assert (scope.outcome, bool(scope.outcome), str(scope.outcome)) == (
        ScopeOutcome(),
        False,
        "no name carried a graph",
    )
    assert (float(total), name, parts[2] is batch) == (32.0, "run", True)


def test_a_mistake_of_ours_leaves_the_step_as_it_is_and_warns(
    model: nn.Module, batch: torch.Tensor, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise KeyError("ours")

    monkeypatch.setattr("tenure.release.steps.scopes.cut_values", fail)
    scope = step_scope()
    with pytest.warns(RuntimeWarning, match="left this step as it is: KeyError: 'ours'"), scope:
        loss = model(batch).mean()

    assert loss.grad_fn is not None
    assert scope.outcome == ScopeOutcome()


def test_one_scope_entered_twice_does_no_harm(model: nn.Module, batch: torch.Tensor) -> None:
    scope = step_scope()
    with scope:
        first = model(batch).mean()
        with scope:
            second = model(batch).mean()

    assert second.grad_fn is None
    assert first.grad_fn is not None
