"""Collect garbage at known steps, so that ranks do not stall one another."""

import gc


class GarbageSchedule:
    def __init__(self, every: int = 1000) -> None:
        assert every > 0, "every must be positive"
        self.every = every
        gc.disable()
        gc.collect(1)

    def run(self, step: int) -> None:
        if step > 1 and step % self.every == 0:
            gc.collect(1)
