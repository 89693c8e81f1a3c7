import gc


class ScheduledCollection:
    """Python's collector only every so many steps, so no rank waits for another one's pause."""

    def __init__(self, every=18):
        self.every = every

    def __enter__(self):
        gc.disable()
        return self

    def after_step(self, step):
        if step % self.every == self.every - 1:
            gc.collect()

    def __exit__(self, *exc):
        gc.enable()
