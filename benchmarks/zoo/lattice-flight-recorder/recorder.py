import logging
import sys
from logging.handlers import BufferingHandler

log = logging.getLogger("lattice")


class FlightRecorder(BufferingHandler):
    """Says nothing as long as all goes well; an error brings out what led to it."""

    def __init__(self, capacity=10_000):
        super().__init__(capacity)
        self.screen = logging.StreamHandler(sys.stdout)
        self.screen.setFormatter(logging.Formatter("%(levelname)s %(message)s"))

    def shouldFlush(self, record):
        return record.levelno >= logging.ERROR or super().shouldFlush(record)

    def flush(self):
        if self.buffer and self.buffer[-1].levelno >= logging.ERROR:
            for record in self.buffer:
                self.screen.handle(record)
        super().flush()


def install(recorder_class=FlightRecorder):
    recorder = recorder_class()
    log.addHandler(recorder)
    log.setLevel(logging.DEBUG)
    log.propagate = False
    return recorder
