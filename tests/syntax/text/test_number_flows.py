from __future__ import annotations

import ast

import pytest

from tenure.model.source import SourceFile
from tenure.syntax.text.number_flows import may_be_number
from tenure.syntax.text.scopes import parse

LOG = """\
class History:
    def log_dict(self, values, prefix=""):
        for name, value in values.items():
            self.log(prefix + name, value)

    def log(self, name, value):
        self.scalars[name].append(value)
"""


def reaches(train: str, text: str = LOG) -> bool:
    source = SourceFile("history.py", text)
    calls = (node for node in ast.walk(parse(source)) if isinstance(node, ast.Call))
    value = next(call.args[0] for call in calls if isinstance(call.func, ast.Attribute) and call.func.attr == "append")
    return may_be_number([source, SourceFile("train.py", train)], source, value)


@pytest.mark.parametrize(
    "train",
    [
        "history.log('lr', 0.1)",
        "history.log('lr', scheduler.get_last_lr()[0])",
        "history.log('lr', group['lr'])",
        "history.log(name='loss', value=loss.item())",
        "history.log_dict({'loss': loss, 'step': step})",
        "history.log_dict(dict(loss=loss, lr=args.lr))",
        "def run(step):\n    values = {'loss': loss, 'rows': len(rows)}\n    history.log_dict(values)",
    ],
)
def test_a_number_is_followed_to_the_variable(train: str) -> None:
    assert reaches(train)


@pytest.mark.parametrize(
    "train",
    [
        "history.log('loss', loss)",
        "history.log('loss', 0.5 * loss)",
        "history.log_dict({'loss': loss, 'norm': gradient.norm()})",
        "history.log_dict(losses)",
        "other.note('lr', 0.1)",
        "def f(:",
    ],
)
def test_tensors_and_what_cannot_be_followed_are_none(train: str) -> None:
    assert not reaches(train)


def test_an_expression_was_seen_as_it_is() -> None:
    assert not reaches("history.log('lr', 0.1)", LOG.replace("append(value)", "append(2 * value)"))
