"""What source alone shows: the pages' programs, small programs across functions and files, and what is left out."""

from __future__ import annotations

import os
import re
from pathlib import Path
from textwrap import dedent

import pytest

from pages import PAGE_FILES, Program, read_programs
from tenure.errors import UsageError
from tenure.lint import LintOptions, lint, lint_sources
from tenure.model.source import SourceFile
from tenure.rules import all_rules

SEEN_IN_SOURCE = {
    ("TN101", 1): [("TN101", 18)],
    ("TN101", 2): [("TN101", 11)],
    ("TN103", 1): [("TN103", 10)],
    ("TN104", 1): [("TN104", 8)],
    ("TN107", 1): [("TN107", 10)],
    ("TN107", 2): [("TN107", 9)],
    ("TN201", 1): [("TN201", 12)],
    ("TN202", 1): [("TN202", 11)],
    ("TN203", 1): [("TN203", 13)],
    ("TN204", 1): [("TN204", 10)],
    ("TN205", 1): [("TN205", 12)],
    ("TN105", 1): [("TN105", 28)],
    ("TN206", 1): [("TN206", 10)],
    ("TN302", 1): [("TN302", 13)],
    ("TN202", 2): [("TN202", 10)],
    ("TN303", 1): [("TN303", 13)],
}
"""Leaks on the pages that can be told without running them, by code and number; the others need a recording."""
PROGRAMS = [program for page in PAGE_FILES for program in read_programs(page)]


def told(*texts: str, **named: str) -> list[tuple[str, str, int]]:
    """Rule, file and line of what is found in `program.py`, or in files of these names."""
    files = {f"{name}.py": text for name, text in named.items()} | {"program.py": text for text in texts}
    findings, failures = lint_sources([SourceFile(path, dedent(text)) for path, text in files.items()])
    assert failures == ()
    return [(each.rule, each.file, each.line) for each in findings]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda each: f"{each.code}-{each.heading}-{each.number}")
def test_of_the_pages_programs_the_marked_lines_are_told_and_nothing_else(program: Program) -> None:
    findings, failures = lint_sources([SourceFile("program.py", program.text)])
    expected = [each for each in program.marks if each not in program.recorded_marks]
    expected += SEEN_IN_SOURCE.get((program.code, program.number), []) if program.heading == "Leaks" else []

    assert ([(each.rule, each.line) for each in findings], failures) == (expected, ())
    assert {line for _, line in expected} <= {line for _, line in program.marks}


TRAINING = """
    import torch
    def train(model, criterion, optimizer, loader):
        kept, total = [], 0.0
        for batch, labels in loader:
            output = model(batch)
            loss = criterion(output, labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            {statement}
        return total
"""


@pytest.mark.parametrize(
    ("statement", "rules"),
    [
        ("total += loss", ["TN101"]),
        ("total = total + loss", ["TN101"]),
        ("total = 0.9 * total + 0.1 * loss", ["TN101"]),
        ("kept.append(loss)", ["TN101"]),
        ("kept.append({'step': 1, 'loss': loss})", ["TN101"]),
        ("kept.append(output)", ["TN107"]),
        ("kept.append((output.mean(), 3))", ["TN107"]),
        ("total += loss.item()", []),
        ("total += loss.detach()", []),
        ("total += float(loss)", []),
        ("total += len(batch)", []),
        ("kept.append(loss.detach().cpu())", []),
        ("kept.append(output.argmax(1) == labels)", []),
        ("kept.append(batch)", []),
        ("kept = [loss]", []),
        ("kept.append(loss); kept.clear()", []),
        ("kept.append(criterion(output.detach(), labels))", []),
        ("with torch.no_grad(): kept.append(model(batch))", []),
        ("kept.append(loss)  # tenure: allow TN101", []),
    ],
)
def test_what_a_training_loop_keeps_of_a_step_is_told_where_it_has_a_graph(statement: str, rules: list[str]) -> None:
    assert told(TRAINING.format(statement=statement)) == [(rule, "program.py", 11) for rule in rules]


def test_losses_that_are_summed_up_for_one_backward_pass_are_wanted() -> None:
    assert (
        told("""
        import torch
        def train(model, criterion, optimizer, batches):
            for views in batches:
                total, terms = 0.0, []
                for view in views:
                    total += criterion(model(view))
                    terms.append(criterion(model(view)))
                (total + torch.stack(terms).sum()).backward()
                optimizer.step()
        """)
        == []
    )


def test_a_meter_of_another_file_is_followed_into_and_a_detaching_one_is_silent() -> None:
    train = """
        import torch
        from meters import Meter
        class Trainer:
            def __init__(self, model):
                self.model, self.meter = model, Meter()
            def step(self, batch):
                loss = self.model(batch).mean()
                loss.backward()
                self.meter.update(loss)
    """
    meter = """
        class Meter:
            def __init__(self):
                self.sum = 0.0
            def update(self, value):
                self.sum += {}
    """

    assert told(train=train, meters=meter.format("value")) == [("TN101", "meters.py", 6)]
    assert told(train=train, meters=meter.format("value.item()")) == []


def test_what_a_step_function_returns_with_its_graph_is_followed_to_who_adds_it_up() -> None:
    program = """
        import torch
        class Trainer:
            def training_step(self, batch):
                loss = self.model(batch).mean()
                loss.backward()
                return {}, 3
            def train(self, batches):
                running = torch.zeros(())
                for batch in batches:
                    value, count = self.training_step(batch)
                    running += value
                print(running.item())
    """

    assert told(program.format("loss")) == [("TN101", "program.py", 12)]
    assert told(program.format("loss.detach()")) == []


def test_an_evaluation_is_silent_under_the_programs_own_context_manager_that_switches_autograd_off() -> None:
    program = """
        import torch
        from contextlib import contextmanager
        @contextmanager
        def evaluating(model):
            model.eval()
            {region}:
                yield
            model.train()
        class Scores:
            def __init__(self):
                self.rows = []
            def run(self, model, loader):
                with evaluating(model):
                    for batch in loader:
                        self.rows.append(model(batch))
    """

    assert told(program.format(region="with torch.no_grad()")) == []
    assert told(program.format(region="if model")) == [("TN107", "program.py", 16)]


def test_what_a_model_gathers_in_its_forward_is_its_result() -> None:
    assert (
        told("""
        import torch
        from torch import nn
        class Stages(nn.Module):
            def forward(self, x):
                levels = []
                for layer in self.layers:
                    x = layer(x)
                    levels.append(x)
                return levels
        def train(optimizer, batches):
            model = Stages()
            for batch in batches:
                model(batch)[0].mean().backward()
                optimizer.step()
        """)
        == []
    )


@pytest.mark.parametrize(
    ("registered", "found"),
    [
        ("self.layer.register_forward_hook(self.look)", [("TN303", "program.py", 5)]),
        ("handle = self.layer.register_forward_hook(self.look)", [("TN303", "program.py", 5)]),
        ("handle = self.layer.register_forward_hook(self.look); handle.remove()", []),
        ("x.register_hook(self.look)", []),
    ],
)
def test_a_hook_of_a_module_that_each_forward_registers_is_told_where_its_handle_removes_nothing(
    registered: str, found: list[tuple[str, str, int]]
) -> None:
    program = f"""
        from torch import nn
        class Net(nn.Module):
            def forward(self, x):
                {registered}
                return self.layer(x)
    """

    assert told(program) == found


@pytest.mark.parametrize(
    ("base", "first", "found"),
    [("nn.Module", "self", [("TN205", "program.py", 6)]), ("object", "self", []), ("nn.Module", "cls", [])],
)
def test_a_cached_method_of_a_module_is_told(base: str, first: str, found: list[tuple[str, str, int]]) -> None:
    program = f"""
        import functools
        from torch import nn
        class Table({base}):
            @functools.lru_cache(maxsize=None)
            def rows(self_or_{first}, length):
                return length
    """.replace(f"self_or_{first}", first)

    assert told(program) == found


@pytest.mark.parametrize(
    ("afterwards", "found"),
    [
        ("optimizer.step()", [("TN104", "program.py", 4)]),
        ("optimizer.zero_grad()", []),
        ("optimizer.zero_grad(set_to_none=False)", [("TN104", "program.py", 4), ("TN407", "program.py", 5)]),
        ("parameter.grad = None", []),
    ],
)
def test_gradients_with_a_graph_are_told_unless_the_function_drops_them(
    afterwards: str, found: list[tuple[str, str, int]]
) -> None:
    program = f"""
        import torch
        def step(loss, optimizer, parameter):
            loss.backward(create_graph=True)
            {afterwards}
    """

    assert told(program) == found


def test_an_edit_detaches_what_is_kept_and_the_edited_program_is_silent() -> None:
    source = SourceFile("program.py", dedent(TRAINING.format(statement="total += loss * 2")))
    ((finding,), _) = lint_sources([source])
    (edit,) = finding.edits

    assert (edit.line, edit.before.strip(), edit.after.strip()) == (
        11,
        "total += loss * 2",
        "total += (loss * 2).detach()",
    )
    assert lint_sources([SourceFile("program.py", source.text.replace(edit.before, edit.after))]) == ((), ())


def test_a_file_that_is_no_python_is_named_and_the_rest_goes_on() -> None:
    findings, failures = lint_sources(
        [
            SourceFile("bad.py", "import torch\ndef :"),
            SourceFile("good.py", dedent(TRAINING.format(statement="total += loss"))),
        ]
    )

    assert [each.file for each in findings] == ["good.py"]
    assert failures == ("bad.py:2: cannot be parsed: invalid syntax",)


def test_only_what_is_selected_and_not_ignored_is_told() -> None:
    source = SourceFile("program.py", dedent(TRAINING.format(statement="kept.append(loss); kept.append(output)")))

    def rules(**options: tuple[str, ...]) -> list[str]:
        return [each.rule for each in lint_sources([source], LintOptions(**options))[0]]

    assert rules() == ["TN101", "TN107"]
    assert rules(select=("TN107",)) == ["TN107"]
    assert rules(select=("TN1",), ignore=("TN107",)) == ["TN101"]


def test_files_without_torch_are_read_only_where_a_file_with_torch_imports_them(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("import torch\nfrom meters import Meter\n")
    (tmp_path / "meters.py").write_text("class Meter:\n    broken(\n")
    (tmp_path / "unrelated.py").write_text("def :\n")
    linted = lint([str(tmp_path)])

    assert (linted.findings, linted.num_files) == ((), 3)
    assert [failure.partition(": ")[0] for failure in linted.failures] == [f"{tmp_path / 'meters.py'}:2"]


def test_a_path_that_is_not_there_is_an_error_of_the_caller(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="nothing-here: no such file or folder"):
        lint([str(tmp_path / "nothing-here")])


def test_some_rules_can_be_seen_in_source() -> None:
    assert [rule.code for rule in all_rules() if rule.check_source is not None and rule.code < "TN2"] == [
        *("TN104", "TN103", "TN105", "TN107", "TN101", "TN108")
    ]


TRAIN = """\
import torch
def train(model, batches):
    total = 0
    for batch in batches:
        loss = model(batch).mean()
        loss.backward()
        total += loss
    print(total)
"""


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        (
            "null.py",
            b"import torch\0\n",
            r"null\.py(:1)?: cannot be parsed: source code string cannot contain null bytes",
        ),
        (
            "tabs.py",
            b"import torch\nif 1:\n\tx = 1\n        y = 2\n",
            r"tabs\.py:4: cannot be parsed: inconsistent use",
        ),
        ("cookie.py", b"# coding: nonsense\nimport torch\n", r"cookie\.py: cannot be read: unknown encoding: nonsense"),
        ("rot.py", b"# coding: rot13\nimport torch\n", r"rot\.py: cannot be read: 'rot13' is not a text encoding"),
        ("deep.py", b"import torch\nx = " + b"-" * 100_000 + b"1\n", r"deep\.py: cannot be parsed: \w+"),
        ("broken.ipynb", b'{"cells": "torch"', r"broken\.ipynb: is no notebook: "),
    ],
)
def test_a_file_that_cannot_be_looked_at_is_one_line_and_the_rest_goes_on(
    tmp_path: Path, name: str, data: bytes, said: str
) -> None:
    (tmp_path / name).write_bytes(data)
    (tmp_path / "train.py").write_text(TRAIN)

    linted = lint([str(tmp_path)])

    assert [Path(each.file).name for each in linted.findings] == ["train.py"]
    (failure,) = linted.failures
    assert re.match(said, failure.removeprefix(f"{tmp_path}/"))


def test_links_that_go_round_pipes_and_folders_named_like_files_are_no_end_of_it(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(TRAIN)
    (tmp_path / "around").symlink_to(tmp_path)
    (tmp_path / "loop.py").symlink_to("loop.py")
    (tmp_path / "gone.py").symlink_to("nowhere.py")
    (tmp_path / "folder.py").mkdir()
    os.mkfifo(tmp_path / "pipe.py")

    linted = lint([str(tmp_path)])

    assert (len(linted.findings), linted.num_files) == (1, 4)
    assert [Path(failure.partition(": ")[0]).name for failure in linted.failures] == ["gone.py", "loop.py", "pipe.py"]


def test_a_folder_that_cannot_be_read_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "train.py").write_text(TRAIN)
    (tmp_path / "secret").mkdir()
    scan = os.scandir

    def refuse(path: str) -> object:
        if str(path).endswith("secret"):
            raise PermissionError(13, "Permission denied", str(path))
        return scan(path)

    monkeypatch.setattr(os, "scandir", refuse)
    linted = lint([str(tmp_path)])

    assert (len(linted.findings), linted.failures) == (1, (f"{tmp_path}/secret: cannot be read: Permission denied",))


def test_what_is_nested_too_deeply_to_be_followed_is_named_and_the_rest_is_looked_at() -> None:
    deep = TRAIN.replace("+= loss", "+= " + "+".join(["loss"] * 900))
    findings, failures = lint_sources([SourceFile("deep.py", deep), SourceFile("train.py", TRAIN)])

    assert [each.file for each in findings] == ["train.py"]
    assert failures == ("deep.py: nested too deeply, not looked at",)


@pytest.mark.parametrize("step", ["x{0} + x{1}", "x{1} + 1", "f(x{0}, x{1})"])
def test_a_long_chain_of_variables_is_followed_in_the_time_of_its_length(step: str) -> None:
    chain = "".join(f"        x{at + 1} = {step.format(at - 1, at)}\n" for at in range(1, 300))
    text = (
        f"import torch\ndef train(model, batches, keep):\n    for batch in batches:\n        x0 = x1 = batch\n{chain}"
        "        x300.sum().backward()\n        keep.append(x300)\n        kept.append(other(x299))\n"
    )

    assert lint_sources([SourceFile("t.py", text)]) == ((), ())
