import torch


class Tracked:
    """Mixin for things that appear in the end-of-run table."""

    known = []

    def __init__(self, label):
        self.label = label
        self.enlist()

    def enlist(self):
        Tracked.known.append(self)

    @classmethod
    def table(cls):
        """The latest meter of every label."""
        latest = {meter.label: meter for meter in cls.known}
        return "\n".join(f"{label:10} {meter.describe()}" for label, meter in latest.items())


class ConfusionMeter(Tracked):
    def __init__(self, label, classes):
        self.counts = torch.zeros(classes, classes)
        super().__init__(label)

    def add(self, predicted, actual):
        self.counts.index_put_((actual, predicted), torch.ones(len(actual)), accumulate=True)

    def accuracy(self):
        return (self.counts.trace() / self.counts.sum()).item()

    def describe(self):
        return f"accuracy {self.accuracy():.3f} on {int(self.counts.sum())}"
