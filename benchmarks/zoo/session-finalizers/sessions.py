import weakref

import torch


class Meter:
    def __init__(self):
        self.open = self.closed = 0


def flush(meter, scratch):
    """Wipes what a caller left behind."""
    scratch.zero_()
    meter.closed += 1


class Session:
    """One caller's echo state between their chunks of sound."""

    def __init__(self, engine, channels, meter):
        self.engine = engine
        self.scratch = torch.zeros(channels, engine.reach)
        meter.open += 1
        self.when_gone(meter)

    def when_gone(self, meter):
        weakref.finalize(self.engine, flush, meter, self.scratch)

    def push(self, chunk):
        padded = torch.cat((self.scratch, chunk), -1)
        self.scratch.copy_(padded[:, -self.engine.reach :])
        return self.engine(padded[None])[0]


def serve(engine, calls, meter, session_class=Session):
    for number, chunks in enumerate(calls):
        session = session_class(engine, chunks[0].size(0), meter)
        level = sum(session.push(chunk).square().mean().item() for chunk in chunks)
        del session
        yield number, level / len(chunks)
