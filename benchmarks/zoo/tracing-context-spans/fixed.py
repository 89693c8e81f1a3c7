from contextlib import contextmanager

from train import main
from tracing import Span, current


@contextmanager
def span(name):
    opened = Span(name, current.get())
    token = current.set(opened)
    try:
        yield opened
    finally:
        current.reset(token)


if __name__ == "__main__":
    main(span)
