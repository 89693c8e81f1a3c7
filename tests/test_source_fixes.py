from __future__ import annotations

from textwrap import dedent

from tenure.lint import LintOptions, lint_sources
from tenure.model.source import SourceFile
from tenure.source_fixes import Fixed, fix_documents
from tenure.syntax.files.documents import read_document

LOOP = """
import torch
def train(model, optimizer, batches):
    total, kept = 0.0, []
    for batch in batches:
        output = model(batch)
        loss = output.mean()
        loss.backward()
        optimizer.step()
        {statement}
    print(float(total), len(kept))
"""


def fix(unsafe: bool = False, **files: str) -> tuple[dict[str, str], Fixed]:
    documents = [read_document(f"{name}.py", dedent(text).encode()) for name, text in files.items()]
    fixed = fix_documents(documents, LintOptions(), unsafe=unsafe)
    return {after.source.path: after.source.text for _, after in fixed.changed}, fixed


def test_only_safe_edits_are_made_unless_the_others_are_asked_for() -> None:
    text = LOOP.format(statement="total += loss\n        kept.append(output)")
    safe, _ = fix(train=text)
    every, fixed = fix(train=text, unsafe=True)

    assert safe == {"train.py": text.replace("+= loss", "+= loss.detach()")}
    assert every == {"train.py": safe["train.py"].replace("append(output)", "append(output.detach())")}
    assert ([each.rule for each in fixed.made], fixed.refused) == (["TN101", "TN107"], ())


def test_edits_of_one_line_wait_for_each_other() -> None:
    changed, fixed = fix(train=LOOP.format(statement="total += loss; kept.append(output)"), unsafe=True)
    assert "total += loss.detach(); kept.append(output.detach())" in changed["train.py"]
    assert len(fixed.made) == 2


FUNCTION = """
import torch
class Softplus(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = torch.exp(x)
        z = torch.log(y + 1)
        ctx.y = y
        ctx.z = z
        return y, z
    @staticmethod
    def backward(ctx, grad, other):
        y = ctx.y
        z = ctx.z
        return grad * y + other * z
"""


def test_of_two_changes_of_a_function_that_shut_each_other_out_the_first_is_made() -> None:
    changed, fixed = fix(functions=FUNCTION, unsafe=True)

    assert [each.line for each in fixed.made] == [8]
    assert changed["functions.py"].count("save_for_backward") == 1
    assert "ctx.z = z" in changed["functions.py"]


def test_what_was_fixed_is_not_changed_again_and_nothing_of_it_is_found() -> None:
    changed, _ = fix(train=LOOP.format(statement="total += loss * 2; kept.append(output)"), unsafe=True)
    again, fixed = fix(train=changed["train.py"], unsafe=True)

    assert (again, fixed.made) == ({}, ())
    assert lint_sources([SourceFile("train.py", changed["train.py"])]) == ((), ())


def test_a_file_that_did_not_compile_may_be_changed_and_one_that_did_still_does() -> None:
    text = LOOP.format(statement="total += loss") + "return 3\n"
    changed, _ = fix(train=text)
    assert changed == {"train.py": text.replace("+= loss", "+= loss.detach()")}
