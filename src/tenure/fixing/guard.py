"""The environment in which a program's writes to the user's files land in their mirror (see _guard.c)."""

from __future__ import annotations

import os
import site
import sysconfig
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path

GUARD_VARIABLE = "TENURE_GUARD"
PRELOAD_VARIABLE = "LD_PRELOAD"
MIRRORS = "work"
"""Below the scratch folder: a guarded file's mirror is there, under its own whole path."""
REFUSED = "refused"
LIBRARY = "guard.so"
MARKS = (".git", ".hg", "pyproject.toml", "setup.py", "setup.cfg")


def find_library() -> Path | None:
    """The guard's library; None where it was not built: on other systems than Linux, or without a compiler."""
    spec = find_spec("tenure.fixing._guard")
    return Path(spec.origin) if spec is not None and spec.origin else None


def find_roots(folder: Path, command: Sequence[str]) -> tuple[Path, ...]:
    """The projects of the working folder and of the program's file, none within another: what is guarded."""
    files = [folder / argument for argument in command[1:] if argument.endswith(".py") and (folder / argument).exists()]
    found = dict.fromkeys(project_of(each) for each in (folder.resolve(), *(file.resolve().parent for file in files)))
    return tuple(each for each in found if not any(other != each and each.is_relative_to(other) for other in found))


def project_of(folder: Path) -> Path:
    """The nearest folder from here up that has the marks of a project, below the home; else this one."""
    home = Path.home()
    for each in (folder, *folder.parents):
        if each == home or home.is_relative_to(each):
            break
        if any((each / mark).exists() for mark in MARKS):
            return each
    return folder


def guard_environment(
    library: Path, scratch: Path, roots: Sequence[Path], environment: Mapping[str, str]
) -> dict[str, str]:
    """The two variables that guard a program and its children; the library goes by a link, for its path may have
    letters that the loader does not take."""
    link = scratch / LIBRARY
    link.unlink(missing_ok=True)
    link.symlink_to(library)
    lines = [str(scratch)]
    for root in roots:
        for spelled in _spellings(root, environment):
            lines += [f"={spelled}", str(root)]
    lines += [f"!{kept}" for kept in _packages()]
    preloaded = [str(link), *environment.get(PRELOAD_VARIABLE, "").split()]
    return {GUARD_VARIABLE: "\n".join(lines), PRELOAD_VARIABLE: " ".join(preloaded)}


def read_refused(scratch: Path) -> tuple[str, ...]:
    """What was refused since the last call, each once, with the reason."""
    log = scratch / REFUSED
    try:
        said = log.read_bytes().decode("utf-8", "replace").splitlines()
        log.unlink()
    except OSError:
        return ()
    return tuple(dict.fromkeys(said))


def _spellings(root: Path, environment: Mapping[str, str]) -> list[str]:
    """A root as it is, and as the shell calls it where that leads by links."""
    here = Path(environment.get("PWD", ""))
    if not here.is_absolute():
        return [str(root)]
    called = next((each for each in (here, *here.parents) if each.resolve() == root), root)
    return list(dict.fromkeys((str(root), str(called))))


def _packages() -> list[str]:
    """Where packages are installed: nobody writes there."""
    own = [*site.getsitepackages(), site.getusersitepackages(), sysconfig.get_path("stdlib")]
    return list(dict.fromkeys(os.path.realpath(each) for each in own if each))
