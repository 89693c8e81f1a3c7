"""What lint says of programs of one or several files."""

from __future__ import annotations

from textwrap import dedent

from tenure.lint import lint_sources
from tenure.model.source import SourceFile


def told(text: str, **others: str) -> list[tuple[str, int]]:
    """Rule and line of what is found in one file, beside others given by their names."""
    sources = [SourceFile("program.py", dedent(text))]
    sources += [SourceFile(f"{name}.py", dedent(other)) for name, other in others.items()]
    findings, failures = lint_sources(sources)
    assert failures == ()
    return [(each.rule, each.line) for each in findings if each.file == "program.py"]


def rules(text: str, **others: str) -> list[str]:
    """The rules alone."""
    return [rule for rule, _ in told(text, **others)]
