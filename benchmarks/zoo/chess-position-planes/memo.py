import functools
import time


def once(function):
    """The function's answers by its arguments, so that augmentation does not compute them twice."""
    return functools.lru_cache(maxsize=None)(function)


def timed(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        begin = time.perf_counter()
        try:
            return function(*args, **kwargs)
        finally:
            wrapper.seconds += time.perf_counter() - begin

    wrapper.seconds = 0.0
    return wrapper
