import torch
from state import GradientState


class Collator:
    """Mixes each batch with what the feature extractor makes of it."""

    def __init__(self, extractor, weight=0.5):
        self.extractor, self.weight = extractor, weight

    @torch.no_grad()
    def __call__(self, rows):
        return rows + self.weight * self.extractor(rows)


class PreparedLoader:
    state_type = GradientState

    def __init__(self, rows, targets, batch, collate):
        self.rows, self.targets, self.batch, self.collate = rows, targets, batch, collate
        self.remainder = len(rows) % batch
        self.state_type().add_loader(self)

    def __iter__(self):
        for start in range(0, len(self.rows) - self.remainder, self.batch):
            rows = self.rows[start : start + self.batch]
            yield self.collate(rows), self.targets[start : start + self.batch]
