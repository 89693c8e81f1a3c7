import functools
import time
from types import SimpleNamespace

from train import main

clocks = []


def timed(label):
    def decorate(function):
        clock = SimpleNamespace(label=label, calls=0, seconds=0.0)
        clocks.append(clock)

        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            started = time.perf_counter()
            try:
                return function(*args, **kwargs)
            finally:
                clock.seconds += time.perf_counter() - started
                clock.calls += 1

        return wrapper

    return decorate


def report():
    return [(clock.label, clock.calls, clock.seconds) for clock in clocks]


if __name__ == "__main__":
    main(timed, report)
