class Smoothed:
    """Bias-corrected exponential moving average."""

    def __init__(self, beta=0.98):
        self.beta = beta
        self.average = 0.0
        self.steps = 0

    def add(self, x):
        self.steps += 1
        self.average = self.beta * self.average + (1 - self.beta) * x
        return self

    def read(self):
        return float(self.average) / (1 - self.beta**self.steps)


class Monitor:
    def __init__(self, *keys):
        self._values = {key: Smoothed() for key in keys}

    def __call__(self, **scalars):
        for key, scalar in scalars.items():
            self._values[key].add(scalar)

    def summary(self):
        return {key: round(value.read(), 4) for key, value in self._values.items()}
