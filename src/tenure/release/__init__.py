"""What acts on the program's own memory. Every call says what came back and who holds the rest.

The room has the name of its first call, and is that call: `tenure.release(module)` unloads a module. Python binds a
package's name in its parent as soon as anything inside is imported, over a function of the same name.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any


class _Call:
    """Looks the function up when the room is called; no frame of ours then holds on to the arguments."""

    def __get__(self, room: object, owner: type) -> Callable[..., Any]:
        from tenure.release.unloading.unload import release

        return release


class _Room(ModuleType):
    __call__ = _Call()


sys.modules[__name__].__class__ = _Room
