"""`[tool.tenure]` of a project's pyproject.toml: what `tenure lint` selects, ignores, leaves out and knows."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tenure.errors import UsageError
from tenure.lint import LintOptions
from tenure.rules import all_rules

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

LISTS = ("select", "ignore", "exclude")
CODES = frozenset({"select", "ignore"})
KEYS = (*LISTS, "baseline")


@dataclass(frozen=True)
class Settings:
    """`baseline` is a file, named from the working folder; "" where there is none."""

    options: LintOptions = field(default_factory=LintOptions)
    baseline: str = ""


def read_settings(paths: Sequence[str]) -> Settings:
    """Those of the pyproject.toml nearest above the first path; a UsageError where they are not what they must be."""
    file = _nearest_project(Path(paths[0]).resolve())
    if file is None:
        return Settings()
    try:
        data = tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UsageError(f"{file}: cannot be read: {error}") from None
    table = data.get("tool", {}).get("tenure", {})
    unknown = sorted(set(table) - set(KEYS))
    if unknown:
        raise UsageError(f"{file}: [tool.tenure] has no key {unknown[0]!r}; there are: {', '.join(KEYS)}")
    baseline = table.get("baseline", "")
    if not isinstance(baseline, str):
        raise UsageError(f'{file}: [tool.tenure] baseline must be the name of a file, as in baseline = "lint.json"')
    words = {key: _words(file, key, table[key]) for key in LISTS if key in table}
    for key in CODES & words.keys():
        check_codes(words[key], f"{file}: [tool.tenure] {key}")
    options = LintOptions(**words)
    return Settings(options, os.path.relpath(file.parent / baseline) if baseline else "")


def _nearest_project(path: Path) -> Path | None:
    folders = [path, *path.parents] if path.is_dir() else list(path.parents)
    return next((folder / "pyproject.toml" for folder in folders if (folder / "pyproject.toml").is_file()), None)


def _words(file: Path, key: str, value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise UsageError(f'{file}: [tool.tenure] {key} must be a list of words, as in {key} = ["TN101"]')
    return tuple(value)


def check_codes(codes: Sequence[str], where: str) -> None:
    """A UsageError where one is neither a rule's code nor the beginning of one (`TN1`); `where` it was said."""
    known = sorted(rule.code for rule in all_rules() if rule.check_source is not None)
    every = [rule.code for rule in all_rules()]
    for each in codes:
        if each and any(code.startswith(each) for code in known):
            continue
        is_rule = bool(each) and any(code.startswith(each) for code in every)
        problem = "is told by `tenure run` alone" if is_rule else "is no rule's code"
        if not (is_rule and where.endswith("ignore")):
            raise UsageError(f"{where}: {each!r} {problem}; there are: {', '.join(known)}")
