"""The public face, frozen: names, signatures and fields of `tenure`, verbs and options of the command.

A wanted change: `make public-names` rewrites tests/public_names.txt; explain the difference in the commit.
"""

from __future__ import annotations

import dataclasses
import inspect
from pathlib import Path

import click

import tenure
from tenure.cli.main import VERBS, main

FROZEN = Path(__file__).with_name("public_names.txt")


def describe_public_names() -> str:
    names = [line for name in sorted(tenure.__all__) for line in _describe_name(name)]
    verbs = [line for verb in VERBS for line in _describe_verb(verb)]
    return "\n".join(["# import tenure", *names, "", "# the command", *_options("tenure", main), *verbs]) + "\n"


def _describe_name(name: str) -> list[str]:
    value = getattr(tenure, name)
    if dataclasses.is_dataclass(value):
        fields = [field for field in dataclasses.fields(value) if not field.name.startswith("_")]
        return [f"tenure.{name}", *(f"    .{field.name}: {field.type}" for field in fields)]
    if inspect.isclass(value):
        return [f"tenure.{name}({', '.join(base.__name__ for base in value.__bases__)})"]
    if callable(value):
        return [f"tenure.{name}{inspect.signature(value)}"]
    return [f"tenure.{name}: {type(value).__name__}"]


def _describe_verb(verb: str) -> list[str]:
    command = main.get_command(click.Context(main), verb)
    assert command is not None
    return _options(f"tenure {verb}", command)


def _options(head: str, command: click.Command) -> list[str]:
    arguments = [each.make_metavar(click.Context(command)) for each in command.params if _is_argument(each)]
    lines = [" ".join([head, *arguments])]
    for option in command.params:
        if not _is_argument(option):
            names = " / ".join([*option.opts, *option.secondary_opts])
            values = "" if getattr(option, "is_flag", False) else f" {_values(option.type)}"
            lines.append(f"    {names}{values}")
    return lines


def _is_argument(parameter: click.Parameter) -> bool:
    return isinstance(parameter, click.Argument)


def _values(kind: click.ParamType) -> str:
    return "|".join(map(str, kind.choices)) if isinstance(kind, click.Choice) else kind.name.upper()


def test_public_names_and_options_are_as_frozen() -> None:
    frozen = FROZEN.read_text(encoding="utf-8").splitlines()
    assert describe_public_names().splitlines() == frozen, "wanted? then: make public-names"


if __name__ == "__main__":
    FROZEN.write_text(describe_public_names(), encoding="utf-8")
    print(f"wrote {FROZEN}")
