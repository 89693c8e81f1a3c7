"""Each test begins as a fresh process would, as far as torch and our own caches keep state for the whole process."""

from __future__ import annotations

import functools
import gc
import sys
import time
import types
import warnings
from collections.abc import Iterator

import hypothesis
import pytest

hypothesis.settings.register_profile(
    "busy machine",
    deadline=None,
    suppress_health_check=[hypothesis.HealthCheck.too_slow],
)
hypothesis.settings.load_profile("busy machine")


def pytest_collection_finish(session: pytest.Session) -> None:
    """Parameters of tests live as long as the process, where the censuses of all other tests would see them."""
    torch = sys.modules.get("torch")
    for item in session.items if torch else ():
        given = item.callspec.params.values() if isinstance(item, pytest.Function) and hasattr(item, "callspec") else ()
        if any(isinstance(value, (torch.Tensor, torch.nn.Module)) for value in given):
            raise pytest.UsageError(
                f"{item.nodeid}: give a function that makes the tensor, which would live from now on"
            )


@pytest.fixture(autouse=True)
def nothing_compiled_before() -> None:
    """What an earlier test compiled in this process is forgotten: the recorder treads softly once anything was."""
    dynamo = sys.modules.get("torch._dynamo")
    if dynamo is not None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # on CUDA it imports inductor, which warns of its own calls
            dynamo.reset()


@pytest.fixture(autouse=True, scope="module")
def no_compiled_code_before() -> None:
    """Nor do the graphs of example tensors stay that compiled code in the globals of earlier files keeps: a census of
    the process would see them."""
    if "torch._dynamo" not in sys.modules:
        return
    for module in [module for module in sys.modules.values() if isinstance(module, types.ModuleType)]:
        for name in [name for name in vars(module) if name.startswith(("__compiled_fn_", "__resume_at_"))]:
            setattr(module, name, None)


@pytest.fixture(autouse=True)
def no_recorder_before() -> None:
    """A recorder that an earlier test left open, or that waits for the collector, is no second one of this process."""
    happenings = sys.modules.get("tenure.capture.sampling.happenings")
    if happenings is not None:
        happenings._OPEN.clear()


@pytest.fixture(autouse=True)
def a_kernel_that_is_quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """However busy the machine is, recorders in the test's own process do not note that reading shares of pages took
    long."""
    monkeypatch.setattr("tenure.capture.sampling.host.LONGEST_SECONDS", float("inf"))


@pytest.fixture(autouse=True)
def a_clock_that_nobody_sets(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever sets the machine's clock meanwhile, recorders in the test's own process do not note it."""
    monkeypatch.setattr("tenure.capture.sampling.happenings._wall", time.perf_counter)


@pytest.fixture(autouse=True)
def parts_of_a_diagnosis_that_all_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """A part of a diagnosis that fails fails the test; a user is told the others."""
    monkeypatch.setattr("tenure.parts.Parts.strict", True)


@pytest.fixture(autouse=True, scope="module")
def only_what_a_file_makes_is_listed(request: pytest.FixtureRequest) -> Iterator[None]:
    """What other files' tests and the imports have left, a million objects, is frozen: no census goes through it.

    A file says `LISTS_ALL_OBJECTS = True` whose tests need what was made when it was imported, as its globals.
    """
    if not getattr(request.module, "LISTS_ALL_OBJECTS", False):
        gc.freeze()
    yield
    gc.unfreeze()


@pytest.fixture(autouse=True, scope="module")
def no_sources_parsed_before() -> Iterator[None]:
    """The trees of sources that a file's tests have parsed go with it: hundreds of thousands of objects, which every
    later census of the process would have to walk."""
    yield
    for name, module in list(sys.modules.items()):
        if name.startswith("tenure.syntax."):
            for value in vars(module).values():
                if isinstance(value, functools._lru_cache_wrapper):
                    value.cache_clear()
