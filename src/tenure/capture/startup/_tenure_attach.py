"""What a running program runs when somebody attaches to it: the recorder begins in the middle.

Standard library only up to the recorder itself. Python calls it between two instructions of the main thread
(`sys.remote_exec`, Python 3.14); the answer goes into a file, for nobody here must be told of a failure of ours.
"""

from __future__ import annotations

import json
import os
import sys


def begin(folder: str, package: str, answer: str) -> None:
    """Start recording into `folder` with the Tenure in `package`; why not, or null, is written to the file `answer`."""
    try:
        failure = _begin(folder, package)
    except Exception as error:
        failure = f"{type(error).__name__}: {error}"
    try:
        unfinished = answer + ".tmp"
        with open(unfinished, "w", encoding="utf-8") as file:  # noqa: PTH123
            json.dump({"failure": failure}, file)
        os.replace(unfinished, answer)  # noqa: PTH105
    except OSError:
        pass


def _begin(folder: str, package: str) -> str | None:
    if "torch" not in sys.modules:
        return "it has not imported torch"
    if "tenure.capture.from_environment" in sys.modules:
        return "a Tenure records it already"
    if "tenure" not in sys.modules:
        _load_package(package)
    before = os.environ.get("TENURE_RECORDING")
    os.environ["TENURE_RECORDING"] = folder
    try:
        from tenure.capture.from_environment import start_from_environment

        return None if start_from_environment() is not None else "recording is switched off there"
    finally:
        if before is None:
            del os.environ["TENURE_RECORDING"]
        else:
            os.environ["TENURE_RECORDING"] = before


def _load_package(folder: str) -> None:
    from importlib.util import module_from_spec, spec_from_file_location

    file = folder + os.sep + "__init__.py"
    spec = spec_from_file_location("tenure", file, submodule_search_locations=[folder])
    if spec is None or spec.loader is None:
        raise ImportError(f"no Tenure in {folder}")
    sys.modules["tenure"] = module = module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules["tenure"]
        raise
