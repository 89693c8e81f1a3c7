from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

current = ContextVar("current", default=None)


@dataclass
class Span:
    name: str
    above: object = None
    notes: dict = field(default_factory=dict)

    def note(self, **values):
        self.notes.update(values)


@contextmanager
def span(name):
    """What is noted within goes to a span of this name."""
    opened = Span(name, current.get())
    current.set(opened)
    yield opened


def note(**values):
    if (opened := current.get()) is not None:
        opened.note(**values)
