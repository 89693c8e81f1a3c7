from __future__ import annotations

import ast

import pytest

from tenure.syntax.text.freezing import requires_grad_set_in


@pytest.mark.parametrize(
    ("text", "freezes", "may_freeze"),
    [
        ("net.requires_grad_(False)", True, True),
        ("net.requires_grad_(requires_grad=False)", True, True),
        ("p.requires_grad = False", True, True),
        ("p.requires_grad = name in tuned", False, True),
        ("net.requires_grad_(name in tuned)", False, True),
        ("net.requires_grad_(True)", False, False),
        ("net.requires_grad_()", False, False),
        ("setattr(p, 'requires_grad', False)", False, False),
    ],
)
def test_what_is_set_says_whether_it_freezes(text: str, freezes: bool, may_freeze: bool) -> None:
    (found,) = requires_grad_set_in(ast.parse(text))

    assert (found.freezes, found.may_freeze) == (freezes, may_freeze)


def test_what_is_only_asked_for_is_not_set() -> None:
    assert list(requires_grad_set_in(ast.parse("if p.requires_grad: x = p.grad"))) == []
