import threading
from contextlib import contextmanager

import torch

_local = threading.local()


class Session:
    """One model under fixed settings, opened for a run of requests."""

    def __init__(self, model, temperature=1.0):
        self.model, self.temperature = model, temperature
        self.served = 0

    @torch.no_grad()
    def score(self, pairs):
        self.served += 1
        return self.model(pairs).squeeze(1) / self.temperature


def current_session():
    return getattr(_local, "session", None)


@contextmanager
def open_session(model, **settings):
    _local.session = Session(model, **settings)
    yield _local.session
