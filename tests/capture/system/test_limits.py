from __future__ import annotations

import pytest

from tenure.capture.system.limits import soft_limit

resource = pytest.importorskip("resource")


@pytest.mark.parametrize(
    ("name", "number"), [("open files", resource.RLIMIT_NOFILE), ("stack size", resource.RLIMIT_STACK)]
)
def test_limits_are_those_that_the_system_sets(name: str, number: int) -> None:
    soft, _ = resource.getrlimit(number)
    assert soft_limit(name) == (None if soft == resource.RLIM_INFINITY else soft)
