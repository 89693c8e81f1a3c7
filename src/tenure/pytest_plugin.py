"""For pytest: `expect_freed`, a fixture for what a test lets go of, and a marker for all that it makes.

Imports nothing of torch before a test asks for it.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any

import pytest

Watch = Callable[..., None]
_MARKER = "expect_freed: no tensor memory that the test made may be left when it ends (tenure)"
_PASSED = pytest.StashKey[bool]()


def pytest_configure(config: pytest.Config) -> None:
    """Make the marker known."""
    config.addinivalue_line("markers", _MARKER)


@pytest.fixture
def expect_freed(request: pytest.FixtureRequest) -> Generator[Watch, None, None]:
    """`expect_freed(model)`: once the test function has ended, and passed, `model` must be gone.

    Fails with the path of what still holds on. What other fixtures gave is pytest's until they are torn down: of that,
    use `with tenure.expect_freed(...)` inside the test.
    """
    from tenure.release.unloading.expect import ExpectFreed

    watched: list[ExpectFreed] = []

    def watch(*objects: Any, collect: bool = True) -> None:
        watched.append(ExpectFreed(objects, collect=collect))

    yield watch
    if request.node.stash.get(_PASSED, False):
        for each in watched:
            each.check()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Run the test; under the marker, look before and after it."""
    item.stash[_PASSED] = False
    if item.get_closest_marker("expect_freed") is None:
        result = yield
    else:
        from tenure.release.unloading.expect import NothingLeft

        block = NothingLeft()
        result = yield
        block.check()
    item.stash[_PASSED] = True
    return result
