"""What `--fix` makes of findings whose edits follow from their place; the changed program is silent."""

from __future__ import annotations

from textwrap import dedent

import pytest

from tenure.lint import lint_sources
from tenure.model.source import SourceFile
from tenure.model.source_finding import SourceFinding
from tenure.syntax.edits.line_edits import apply_edits


def found(text: str) -> SourceFinding:
    ((finding,), failures) = lint_sources([SourceFile("program.py", dedent(text))])
    assert failures == ()
    return finding


def fixed(text: str) -> str:
    after = apply_edits(dedent(text), found(text).edits)
    assert lint_sources([SourceFile("program.py", after)]) == ((), ())
    return after


STEP = """
    import torch
    def step(model, optimizer, batch):
        optimizer.zero_grad()
        loss = model(batch).mean()
        loss.backward(create_graph=True)
        optimizer.step()
        return {value}
"""


def test_gradients_with_a_graph_are_dropped_behind_the_step_where_nobody_reads_them() -> None:
    text = STEP.format(value="loss.item()")
    assert fixed(text) == dedent(text).replace(
        "    optimizer.step()\n", "    optimizer.step()\n    optimizer.zero_grad()\n"
    )
    assert found(text).safe
    assert found(STEP.format(value="model.weight.grad.norm().item()")).edits == ()


FORWARD = """
    from torch import nn
    class Net(nn.Module):
        def forward(self, x):
            # watch
            self.layer.register_forward_hook(self.look)  # again
            if x is None:
                return None
            return self.layer(x)
"""
UNDER = """
from torch import nn
class Net(nn.Module):
    def forward(self, x):
        # watch
        with self.layer.register_forward_hook(self.look):  # again
            if x is None:
                return None
            return self.layer(x)
"""


def test_a_hook_is_there_for_the_rest_of_the_call_that_registers_it() -> None:
    assert fixed(FORWARD) == UNDER
    assert not found(FORWARD).safe


TABLE = """
    import functools
    from torch import nn
    class Table(nn.Module):
        @functools.lru_cache(maxsize=None)
        def rows(self, length):
            return {value}
    table = Table()
    {use}
"""


@pytest.mark.parametrize(
    ("value", "use", "is_edited"),
    [
        ("self.weight[:length]", "table.rows(3)", True),
        ("torch.rand(length)", "table.rows(3)", False),
        ("self.weight[:length]", "Table.rows.cache_clear()", False),
    ],
)
def test_a_cached_method_computes_anew_where_it_gives_the_same_again(value: str, use: str, is_edited: bool) -> None:
    text = TABLE.format(value=value, use=use)
    if is_edited:
        assert fixed(text) == dedent(text).replace("    @functools.lru_cache(maxsize=None)\n", "")
    assert (bool(found(text).edits), found(text).safe) == (is_edited, False)


RUNS = """
    import torch
    class Runs:
        def run(self, model, batches):
            for step, batch in enumerate(batches):
                try:
                    model(batch)
                except ValueError as error:
                    {statement}
"""


@pytest.mark.parametrize(
    ("statement", "changed"),
    [
        ("self.errors.append(error)", "self.errors.append(error.with_traceback(None))"),
        ("self.errors.append((step, error))", "self.errors.append((step, error.with_traceback(None)))"),
        ("self.errors.append(error); self.last = error", None),
    ],
)
def test_an_exception_is_kept_without_its_traceback(statement: str, changed: str | None) -> None:
    text = RUNS.format(statement=statement)
    if changed is not None:
        assert fixed(text) == dedent(text).replace(statement, changed)
        assert found(text + "    raise Runs().errors[0]\n").edits == ()
    else:
        findings, _ = lint_sources([SourceFile("program.py", dedent(text))])
        assert {each.line: [edit.after for edit in each.edits] for each in findings} == {9: []}


def test_whatever_of_a_kept_tuple_carries_a_graph_is_detached_or_nothing_is() -> None:
    kept = "kept.append((number, y.mean(), y.detach(), g))"
    text = f"""
        import torch
        model = torch.nn.Linear(8, 8)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
        kept = []
        def remember(number, y, g):
            {kept}
        for number in range(24):
            loss = model(torch.randn(4, 8)).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            remember(number, model(torch.randn(4, 8)), loss)
    """
    changed = "kept.append((number, y.mean().detach(), y.detach(), g.detach()))"

    after = apply_edits(dedent(text), found(text).edits)
    assert (after, found(text).safe) == (dedent(text).replace(kept, changed), False)
    assert found(text.replace(", g))", ", g[None]))")).edits == ()
