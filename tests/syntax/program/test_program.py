from __future__ import annotations

import ast
from textwrap import dedent

from tenure.model.source import SourceFile
from tenure.syntax.program.program import Program


def program_of(**files: str) -> Program:
    return Program(SourceFile(f"{name.replace('__', '/')}.py", dedent(text)) for name, text in files.items())


def called(program: Program, file: str) -> dict[str, str | None]:
    """Each call of a file as written, with the file and name of the function that it runs."""
    return {
        ast.unparse(call): (found := program.called_by(call, function)) and f"{found.source.path} {found.qualname}"
        for function in program.functions
        if function.source.path == file
        for call in function.calls
    }


def test_functions_have_the_names_that_python_gives_them_and_methods_know_their_class() -> None:
    program = program_of(
        m="""
        def outer():
            def inner(): pass
        class A:
            class B:
                def f(self): pass
            if True:
                def g(self): pass
        """
    )

    assert [(each.qualname, each.class_name) for each in program.functions] == [
        *(("<module>", ""), ("outer", ""), ("outer.<locals>.inner", ""), ("A.B.f", "B"), ("A.g", "A"))
    ]


def test_a_call_means_what_the_file_defines_then_the_folder_then_the_only_one_there_is() -> None:
    helper = "def step(): pass\ndef alone(): pass\n"
    program = program_of(
        a__train="step()\nalone()\nmissing()\n",
        a__helpers="def step(): pass\n",
        b__helpers=helper,
        b__train="def step(): pass\nstep()\n",
        c__train="step()\n",
    )

    assert called(program, "a/train.py") == {
        "step()": "a/helpers.py step",
        "alone()": "b/helpers.py alone",
        "missing()": None,
    }
    assert called(program, "b/train.py") == {"step()": "b/train.py step"}
    assert called(program, "c/train.py") == {"step()": None}


def test_methods_are_found_by_self_by_what_a_name_was_made_of_or_where_one_class_has_them() -> None:
    program = program_of(
        m="""
        class Base:
            def log(self, x): pass
            def append(self, x): pass
        class Meter(Base):
            def run(self):
                self.log(1)
                self.values.append(2)
                self.own.append(3)
            def __init__(self):
                self.values, self.own = [], Meter()
        unknown.log(4)
        """
    )

    assert called(program, "m.py") == {
        "self.log(1)": "m.py Base.log",
        "self.values.append(2)": None,
        "self.own.append(3)": "m.py Base.append",
        "Meter()": "m.py Meter.__init__",
        "unknown.log(4)": "m.py Base.log",
    }


def test_a_class_is_a_module_by_its_bases_or_its_forward() -> None:
    program = program_of(
        m="""
        class Net(nn.Module): pass
        class Sub(Net): pass
        class Like:
            def forward(self, x): pass
        class Other(dict): pass
        class Round(Round): pass
        """
    )
    (source,) = {each.source for each in program.functions}

    assert [name for name in program.names.classes if program.is_module_class(name, source)] == ["Net", "Sub", "Like"]


def test_a_file_that_cannot_be_parsed_is_named() -> None:
    assert program_of(good="x = 1", bad="x = = 1").failures == ["bad.py:1: cannot be parsed: invalid syntax"]
