"""Telling an exception of the program's signal handler, which may strike inside our code, from a failure of ours."""

from __future__ import annotations

import signal
from types import CodeType
from typing import Any


def is_from_signal_handler(error: BaseException) -> bool:
    """Whether a signal handler of the program raised `error`: a time limit, say, that ran out during a census.

    Looks for the code of the handlers that are installed now; one that C code or an object of C calls is not known.
    """
    codes = {_code_of(signal.getsignal(number)) for number in signal.valid_signals()} - {None}
    step = error.__traceback__
    while step is not None:
        if step.tb_frame.f_code in codes:
            return True
        step = step.tb_next
    return False


def _code_of(handler: Any) -> CodeType | None:
    handler = getattr(handler, "func", handler)  # of a functools.partial
    for candidate in (handler, type(handler).__dict__.get("__call__")):
        code = getattr(getattr(candidate, "__func__", candidate), "__code__", None)
        if isinstance(code, CodeType):
            return code
    return None
