"""What `sys.getrefcount` says of an object that nothing but its asker has. Imports no torch.

Measured, not written down: from Python 3.14 on the interpreter borrows references of variables, and counts less. Where
a caller of ours refers to an object in another way than was measured, the count is higher: it then looks shared.
"""

from __future__ import annotations

import sys


def _of_variable() -> int:
    found: list[object] = []
    return sys.getrefcount(found)


def _of_parameter(found: object) -> int:
    return sys.getrefcount(found)


def _of_argument() -> int:
    found: list[object] = []
    return _of_parameter(found)


OF_VARIABLE = _of_variable()
"""Of an object that one local variable refers to, counted in that function."""
OF_PARAMETER = _of_argument()
"""Of an object that a local variable of the caller refers to, counted in the function that it was passed to."""
