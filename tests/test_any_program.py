"""Generated programs and mangled files: lint and its fixes end, in order, whatever they are given."""

from __future__ import annotations

import ast
import copy
import json
from collections.abc import Iterator
from textwrap import indent

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tenure.cli.main import run_command_line
from tenure.lint import LintOptions, lint, lint_documents
from tenure.source_fixes import fix_documents
from tenure.syntax.edits.line_edits import split_lines
from tenure.syntax.files.documents import Document, read_document

KEEPS = [
    *("total += loss", "total = 0.9 * total + 0.1 * loss", "kept.append(loss)", "kept.append(output)"),
    *("kept.append((loss, 1))", "self.kept[step] = output.mean()", "kept.append(loss); kept.append(output)"),
    *("model.register_forward_hook(look)", "loss.backward(create_graph=True)", "torch.cuda.empty_cache()"),
    *("kept.append(\n    loss  # why\n)", "if step: kept.append(loss)", "print('''\n  as is\n''', total)"),
    *(
        "torch.cuda.empty_cache()\ngc.collect()",
        "optimizer.zero_grad(set_to_none=False)",
        "self.rows.append(output[0])",
    ),
    *("with torch.cuda.amp.autocast(enabled=False): output = model(batch)", "self.state = 0.9 * self.state + output"),
    *("try:\n    model(batch)\nexcept ValueError as error:\n    self.errors.append((step, error))", "model.eval()"),
    *("state = model(batch, state)", "kept.append(loss)  # tenure: allow TN101", "kept.append(größe)"),
    *("output.register_hook(lambda grad: grad * output)", "setattr(self, f'row{step}', output)", "model.apply(look)"),
    *("log.debug('%s', output)", "self.head = Node(output, self.head)", "self.state.loss = loss", "done(output)"),
    *("mask = torch.ones(step, 8)\nkept.append(mask)", "loss = criterion(output * torch.arange(9_000))"),
    *(
        "with autocast():\n    output = model(batch)",
        "scaler = GradScaler(\n    # big\n    1024.0)",
        "amp.GradScaler()",
    ),
]
ENDS = ["return total", "return total.item()", "print(len(kept))", "sum(kept).backward()", "self.last = kept", "pass"]
FUNCTION = """\
class Keeping{number}(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = torch.exp(x)
        ctx.y = y
        return y
    @staticmethod
    def backward(ctx, grad):
        return grad * ctx.y
"""
TABLE = """\
class Table{number}(torch.nn.Module):
    @functools.lru_cache(maxsize=None)  # once
    def rows(self, length):
        return self.weight[:length]
    def forward(self, x):
        self.layer.register_forward_hook(look)
        return self.layer(x)
"""


@st.composite
def training_functions(draw: st.DrawFn) -> str:
    number = draw(st.integers(0, 3))
    body = "\n".join(draw(st.lists(st.sampled_from(KEEPS), min_size=1, max_size=4)))
    backward = draw(st.sampled_from(["loss.backward()", "accelerator.backward(loss)", "pass"]))
    loop = f"output = model(batch)\nloss = criterion(output)\n{backward}\noptimizer.step()\n{body}"
    around = draw(st.sampled_from(["{}", "with torch.no_grad():\n{}", "try:\n{}\nfinally:\n    pass"]))
    loop = loop if around == "{}" else around.format(indent(loop, "    "))
    text = (
        f"def train{number}(self, model, criterion, optimizer, loader, state=None):\n    kept, total = [], 0.0\n"
        f"    for step, batch in enumerate(loader):\n{indent(loop, '        ')}\n    {draw(st.sampled_from(ENDS))}\n"
    )
    return text if draw(st.booleans()) else f"class Trainer{number}:\n{indent(text, '    ')}"


@st.composite
def programs(draw: st.DrawFn) -> bytes:
    """A program that compiles, in some encoding, with some line ends."""
    parts = st.one_of(
        training_functions(),
        st.integers(0, 2).map(lambda number: FUNCTION.format(number=number)),
        st.integers(0, 2).map(lambda number: TABLE.format(number=number)),
    )
    names = draw(st.sampled_from(["", "from torch.cuda.amp import autocast, GradScaler", "from torch.cuda import amp"]))
    text = f"import functools\nimport gc\nimport torch\n{names}\n" + "\n".join(
        draw(st.lists(parts, min_size=1, max_size=4))
    )
    if draw(st.booleans()):
        text = text.replace("    ", "\t")
    encoding, cookie = draw(st.sampled_from([("utf-8", ""), ("utf-8-sig", ""), ("latin-1", "# coding: latin-1\n")]))
    text = (cookie + text).rstrip("\n") + draw(st.sampled_from(["", "\n", "\n\n"]))
    ends = ["\n", "\r\n"] if cookie else ["\n", "\r\n", "\r"]  # a cookie is looked for up to the first "\n"
    return text.replace("\n", draw(st.sampled_from(ends))).encode(encoding)


@st.composite
def notebooks(draw: st.DrawFn) -> bytes:
    cells = [
        {"cell_type": "code", "source": part.decode("latin-1").replace("\r\n", "\n").splitlines(keepends=True)}
        for part in draw(st.lists(programs(), min_size=1, max_size=2))
    ]
    cells.insert(0, {"cell_type": "code", "source": ["%matplotlib inline\n", "!ls"]})
    cells.insert(draw(st.integers(0, 2)), {"cell_type": "markdown", "source": "# torch"})
    return json.dumps({"cells": cells, "nbformat": 4}, indent=draw(st.sampled_from([None, 1, 2]))).encode()


@st.composite
def mangled(draw: st.DrawFn) -> bytes:
    """A program or notebook with pieces cut out, doubled, or replaced by anything."""
    data = draw(st.one_of(programs(), notebooks()))
    for _ in range(draw(st.integers(1, 3))):
        start, end = sorted((draw(st.integers(0, len(data))), draw(st.integers(0, len(data)))))
        piece = draw(
            st.one_of(st.binary(max_size=8), st.sampled_from([b"\0", b"(" * 300, b"\xff", b"\t", b"\x0c", b"'''"]))
        )
        data = data[:start] + piece + data[min(end, start + draw(st.integers(0, 40))) :]
    return data


@st.composite
def grafted(draw: st.DrawFn) -> bytes:
    """A program in which expressions and statements of another stand where they do not belong."""
    tree, other = (ast.parse(draw(training_functions())) for _ in range(2))
    for _ in range(draw(st.integers(1, 4))):
        kind = draw(st.sampled_from([ast.expr, ast.stmt]))
        places, others = list(slots(tree, kind)), list(slots(other, kind))
        if not places or not others:
            continue
        place, name, at = draw(st.sampled_from(places))
        from_place, from_name, from_at = draw(st.sampled_from(others))
        getattr(place, name)[at] = copy.deepcopy(getattr(from_place, from_name)[from_at])
    return b"import torch\n" + ast.unparse(tree).encode()


def slots(tree: ast.AST, kind: type[ast.expr] | type[ast.stmt]) -> Iterator[tuple[ast.AST, str, int]]:
    """Places of such nodes in lists of a tree; nothing that is assigned to or deleted."""
    for node in ast.walk(tree):
        for name, inside in ast.iter_fields(node):
            for at, each in enumerate(inside if isinstance(inside, list) and name != "targets" else ()):
                if isinstance(each, kind) and not isinstance(node, ast.Tuple):
                    yield node, name, at


def fixed(document: Document) -> Document:
    changed = fix_documents([document], LintOptions(), unsafe=True).changed
    return changed[0][1] if changed else document


GOOD = b"""\
import torch
def f(model, batches):
    total = 0
    for batch in batches:
        loss = model(batch).sum()
        loss.backward()
        total += loss
    print(total)
"""
MOST = settings(max_examples=40, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))


@pytest.mark.slow
@MOST
@given(st.one_of(programs().map(lambda data: ("t.py", data)), notebooks().map(lambda data: ("t.ipynb", data))))
def test_a_fixed_program_compiles_and_is_not_changed_again(given: tuple[str, bytes]) -> None:
    before = read_document(*given)
    after = fixed(before)

    compile(after.source.text, "t", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    assert fixed(after).data == after.data
    assert len(lint_documents([after], LintOptions())[0]) <= len(lint_documents([before], LintOptions())[0])


@pytest.mark.slow
@MOST
@given(programs())
def test_lines_that_no_edit_names_stay_byte_for_byte(data: bytes) -> None:
    before = read_document("t.py", data)
    result = fix_documents([before], LintOptions(), unsafe=True)
    after = result.changed[0][1] if result.changed else before
    old, new = (split_lines(each.data.decode("latin-1")) for each in (before, after))
    edits = [edit for finding in result.made for edit in finding.edits]
    replaced = sum(len(edit.before.split("\n")) for edit in edits if edit.before)
    added = sum(len((edit.after or "").split("\n")) for edit in edits if edit.after is not None)

    assert len(set_of_lines(old) - set_of_lines(new)) <= replaced
    assert len(set_of_lines(new) - set_of_lines(old)) <= added


def set_of_lines(lines: list[str]) -> set[tuple[str, int]]:
    """Lines with how many alike came before."""
    return {(line, lines[:at].count(line)) for at, line in enumerate(lines)}


@pytest.mark.slow
@MOST
@given(grafted())
def test_a_program_of_parts_that_do_not_belong_together_is_looked_at_and_stays_one(data: bytes) -> None:
    before = read_document("t.py", data)

    _, failures = lint_documents([before], LintOptions())

    assert failures == ()
    ast.parse(fixed(before).source.text)


@pytest.mark.slow
@MOST
@given(mangled(), st.sampled_from(["t.py", "t.ipynb"]))
def test_mangled_files_are_told_and_never_end_it(
    tmp_path_factory: pytest.TempPathFactory, data: bytes, name: str
) -> None:
    folder = tmp_path_factory.mktemp("mangled")
    (folder / name).write_bytes(data)
    (folder / "good.py").write_bytes(GOOD)

    linted = lint([str(folder)])
    code = run_command_line(["lint", str(folder), "--fix", "--unsafe"])

    assert str(folder / "good.py") in {each.file for each in linted.findings}
    assert all("\n" not in failure for failure in linted.failures)
    assert code in (0, 1, 2)
    assert (folder / "good.py").read_bytes() == GOOD.replace(b"+= loss", b"+= loss.detach()")
