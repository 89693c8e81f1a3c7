"""The environment in which a Python program finds our start-up hook: what a launcher hands to the program."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path

from tenure.capture.writing.folders import (
    LAUNCHER_VARIABLE,
    OPTIONS_VARIABLE,
    OVERLAY_VARIABLE,
    PACKAGE_VARIABLE,
    RECORDING_VARIABLE,
)

PACKAGE = Path(__file__).resolve().parent.parent


def make_environment(folder: Path, options: object, *, overlay: Path | None = None) -> dict[str, str]:
    """This environment, with the start-up hook first on PYTHONPATH and the request in TENURE_ variables."""
    path = [str(PACKAGE / "capture" / "startup")]
    if os.environ.get("PYTHONPATH"):
        path.append(os.environ["PYTHONPATH"])
    asked: Mapping[str, str] = {} if overlay is None else {OVERLAY_VARIABLE: str(overlay)}
    return os.environ | {
        "PYTHONPATH": os.pathsep.join(path),
        RECORDING_VARIABLE: str(folder),
        OPTIONS_VARIABLE: json.dumps(options),
        PACKAGE_VARIABLE: str(PACKAGE),
        LAUNCHER_VARIABLE: str(os.getpid()),
        **asked,
    }


_REQUEST = (RECORDING_VARIABLE, OPTIONS_VARIABLE)


def request_of(environment: Mapping[str, str]) -> dict[str, str]:
    """What of `make_environment`'s is a single run's own."""
    return {name: environment[name] for name in _REQUEST}


def without_request(environment: Mapping[str, str]) -> dict[str, str]:
    """The rest, which all runs have in common."""
    return {name: value for name, value in environment.items() if name not in _REQUEST}
