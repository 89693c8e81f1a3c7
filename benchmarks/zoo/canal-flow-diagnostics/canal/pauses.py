import gc
import time


class PauseWatch:
    """Counts how often the interpreter pauses while one batch is worked on."""

    def __init__(self, levels):
        self.levels = levels
        self.pauses = 0
        self.began = 0.0

    def __enter__(self):
        def callback(phase, info):
            if phase == "start":
                self.began = time.perf_counter()
            else:
                self.pauses += 1

        self.callback = callback
        gc.callbacks.append(callback)
        return self

    def __exit__(self, *error):
        self.callback("stop", {})

    def line(self):
        return f"{self.pauses} pauses over {tuple(self.levels.shape)}"
