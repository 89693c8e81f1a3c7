from __future__ import annotations

import ast
from textwrap import dedent

import pytest

from tenure.model.source import SourceFile
from tenure.syntax.program.program import Program


def run_by(text: str, written: str) -> list[str]:
    """The functions that may run where a call is written so."""
    program = Program([SourceFile("m.py", dedent(text))])
    for function in program.functions:
        for call in function.calls:
            if ast.unparse(call) == written:
                one = program.called_by(call, function)
                return [each.qualname for each in ((one,) if one is not None else program.may_call(call, function))]
    raise AssertionError(written)


CLASSES = """
    class Ledger:
        def __call__(self, x): pass
        def take(self, x): pass
        def clear(self): pass
    class Counter:
        def __call__(self, x): pass
        def take(self, x): pass
        def clear(self): pass
    class Third:
        def __call__(self, x): pass
        def take(self, x): pass
        def clear(self): pass
    class Fourth:
        def __call__(self, x): pass
        def take(self, x): pass
"""


@pytest.mark.parametrize(
    ("text", "called", "found"),
    [
        ("def f(a):\n a.take(1)\nf(Ledger())", "a.take(1)", ["Ledger.take"]),
        ("def f(a):\n a(1)\nf(Ledger())", "a(1)", ["Ledger.__call__"]),
        ("def f(a: Ledger):\n a.take(1)", "a.take(1)", ["Ledger.take"]),
        ("def f(make=Ledger):\n make().take(1)", "make().take(1)", ["Ledger.take"]),
        ("def make():\n return Ledger()\nmake().take(1)", "make().take(1)", ["Ledger.take"]),
        ("def f(*a):\n for p in a:\n  p(1)\nf(Ledger(), Third())", "p(1)", ["Ledger.__call__", "Third.__call__"]),
        ("parts = []\nparts.append(Ledger())\nfor p in parts:\n p(1)", "p(1)", ["Ledger.__call__"]),
        ("parts = {'a': Ledger()}\nparts['a'].take(1)", "parts['a'].take(1)", ["Ledger.take"]),
        ("def gen():\n yield Ledger()\nfor a in gen():\n a.take(1)", "a.take(1)", ["Ledger.take"]),
        ("from functools import partial\ndef f(x=0): pass\ng = partial(f, 1)\ng()", "g()", ["f"]),
        ("PARTS = {}\ndef add(name):\n def wrap(fn):\n  PARTS[name] = fn\n  return fn\n return wrap\n"
         "@add('a')\ndef f(x): pass\ndef run(x):\n PARTS['a'](x)", "PARTS['a'](x)", ["f"]),
        ("def f(x):\n x.take(1)", "x.take(1)", []),
        ("def f(x):\n x(1)\nf(len)", "x(1)", []),
    ],
)  # fmt: skip
def test_objects_are_followed_to_where_they_are_called(text: str, called: str, found: list[str]) -> None:
    assert run_by(dedent(CLASSES) + text, called) == found


def test_attributes_are_followed_through_constructors_fields_and_classes_above() -> None:
    text = (
        CLASSES
        + """
    from dataclasses import dataclass
    class Base:
        def __init__(self, part):
            self.part = part
    class Loop(Base):
        def run(self, x):
            self.part.take(x)
    @dataclass
    class Box:
        inner: object
        def run(self, x):
            self.inner.take(x)
    class Late:
        def run(self, x):
            self.make().take(x)
        def make(self):
            raise NotImplementedError
    class Later(Late):
        def make(self):
            return Third()
    def main(tensor):
        Loop(Ledger()).run(tensor)
        Box(Counter()).run(tensor)
    """
    )

    assert run_by(text, "self.part.take(x)") == ["Ledger.take"]
    assert run_by(text, "self.inner.take(x)") == ["Counter.take"]
    assert run_by(text, "self.make().take(x)") == ["Third.take"]


def test_torch_modules_are_known_wherever_they_are_handed_to() -> None:
    text = """
    from torch import nn
    class Tagger(nn.Module):
        def forward(self, x): pass
    class Service:
        def __init__(self, tagger, other, plain):
            self.tagger, self.other, self.plain = tagger, other, plain
        def run(self, x):
            return self.tagger(x), self.other(x), self.plain(x)
    Service(Tagger().eval(), nn.Sequential(nn.ReLU()).to("cpu"), len)
    """
    program = Program([SourceFile("m.py", dedent(text))])
    (run,) = (each for each in program.functions if each.name == "run")

    assert {ast.unparse(call): program.objects.is_module(call.func, run) for call in run.calls} == {
        "self.tagger(x)": True,
        "self.other(x)": True,
        "self.plain(x)": False,
    }
