import torch


class Validation:
    """Predictions of the latest validation, for the curves that are drawn from them on request."""

    def __init__(self, model, samples, batch=200):
        self.model, self.samples, self.batch = model, samples, batch
        self.latest = None

    @torch.no_grad()
    def run(self):
        self.latest = None
        self.model.eval()
        parts = [self.model(part) for part in self.samples[0].split(self.batch)]
        self.model.train()
        self.latest = torch.cat(parts)
        return self.error()

    def error(self):
        return (self.latest - self.samples[1]).square().mean().item()

    def curve(self, points=5):
        ordered = self.latest.flatten().sort().values
        return [round(ordered[int(i * (len(ordered) - 1) / (points - 1))].item(), 3) for i in range(points)]
