"""Running values that one sends to."""


def exponential(decay=0.9):
    """Yields the smoothed value of all that was sent so far."""
    level = yield
    while True:
        value = yield level
        level = decay * level + (1 - decay) * value


def started(generator):
    next(generator)
    return generator
