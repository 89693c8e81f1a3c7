from dataclasses import dataclass
from typing import Any


@dataclass
class AverageMeter:
    name: str
    sum: Any = 0.0
    count: int = 0

    def update(self, value, n=1):
        self.sum += value * n
        self.count += n

    @property
    def avg(self):
        return float(self.sum) / max(self.count, 1)

    def __str__(self):
        return f"{self.name} {self.avg:.3f}"


class MeterGroup:
    def __init__(self, *names):
        self.meters = {name: AverageMeter(name) for name in names}

    def update(self, n, **values):
        for name, value in values.items():
            self.meters[name].update(value, n)

    def __str__(self):
        return "  ".join(str(meter) for meter in self.meters.values())
