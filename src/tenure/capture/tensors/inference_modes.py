"""Which inference modes the program is in. Leaving one puts back the dispatch keys that were set when it began.

A dispatch mode that is put on the stack outside of one must not be taken off inside: torch's key for it would come
back with the inference mode's end, and with no mode on the stack the program's next operation fails.
"""

from __future__ import annotations

import gc
import weakref
from typing import Any

import torch

_KEYS_OF_MODES = ("Python", "PythonTLSSnapshot")
"""What torch sets with the first mode on its stack, and what an inference mode's end resets with all other keys."""


def bring_keys_back() -> None:
    """Let operations of this thread go through the dispatch modes on its stack again, until the inference mode that
    is on ends. Only where a mode is on the stack."""
    if not torch._C._dispatch_tls_is_dispatch_key_included(_KEYS_OF_MODES[0]):
        for key in _KEYS_OF_MODES:
            torch._C._dispatch_tls_set_dispatch_key_included(key, True)


def is_entered_inference_mode(item: Any) -> bool:
    """Whether an object is an inference mode that was entered, and perhaps left again."""
    return type(item) is torch.inference_mode and "_inference_mode_context" in item.__dict__


class DispatchKeyBringers:
    """Tells whether leaving an inference mode would bring the key of dispatch modes back.

    `known` are weak references to those that were there already when our mode was put on the stack.
    """

    def __init__(self, known: list[weakref.ref[Any]]) -> None:
        self._known = known
        self._refused: bool | None = None

    def may_come(self) -> bool:
        """Costs a look at every object on the heap, but only while the key is set and not twice in the same state."""
        if not torch._C._dispatch_tls_is_dispatch_key_included("Python"):
            return False
        inside = torch.is_inference_mode_enabled()
        if self._refused is inside:
            return True
        known = {id(mode) for reference in self._known if (mode := reference()) is not None}
        may_come = any(is_entered_inference_mode(item) and id(item) not in known for item in gc.get_objects())
        self._refused = inside if may_come else None
        return may_come
