import torch


class Metric:
    """States are declared once; forward both updates them and gives the value of the batch."""

    def __init__(self):
        self.defaults = {}

    def add_state(self, name, default):
        self.defaults[name] = default
        setattr(self, name, default())

    def reset(self):
        for name, default in self.defaults.items():
            setattr(self, name, default())

    def __call__(self, predicted, target):
        self.update(predicted, target)
        return self.of(predicted, target)


class AveragePrecision(Metric):
    """Needs all scores at once, for it sorts them."""

    def __init__(self):
        super().__init__()
        self.add_state("seen", list)

    def update(self, predicted, target):
        self.seen.append((predicted.detach().flatten(), target.flatten()))

    @staticmethod
    def of(predicted, target):
        order = predicted.detach().flatten().argsort(descending=True)
        hits = target.flatten()[order].float()
        precision = hits.cumsum(0) / torch.arange(1, len(hits) + 1)
        return ((precision * hits).sum() / hits.sum().clamp(min=1)).item()

    def compute(self):
        scores, labels = zip(*self.seen, strict=True)
        return self.of(torch.cat(scores), torch.cat(labels))


class MetricSet(dict):
    def update_all(self, predicted, target):
        return {name: metric(predicted, target) for name, metric in self.items()}

    def reset(self):
        for metric in self.values():
            metric.reset()
