import functools
import time

_functions = []


def timed(label):
    """Count and time the calls of a function; `report` sums up over all of them."""

    def decorate(function):
        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            started = time.perf_counter()
            try:
                return function(*args, **kwargs)
            finally:
                wrapper.seconds += time.perf_counter() - started
                wrapper.calls += 1

        wrapper.label, wrapper.calls, wrapper.seconds = label, 0, 0.0
        _functions.append(wrapper)
        return wrapper

    return decorate


def report():
    return [(function.label, function.calls, function.seconds) for function in _functions]
