import torch
from torch.nn import functional


class TrainPipeline:
    """Fetch, make ready, train, tell the callbacks: one batch per `progress`."""

    def __init__(self, model, optimizer, ready, callbacks=()):
        self.model, self.optimizer, self.ready = model, optimizer, ready
        self.callbacks = list(callbacks)
        self.batch = None
        self.step = 0
        self.loss = float("nan")
        self.click_rate = 0.0

    def fetch(self, source):
        self.batch = next(source)
        return self.ready(self.batch)

    def progress(self, source):
        inputs, clicks = self.fetch(source)
        logits = self.model(*inputs)
        self.click_rate = logits.detach().sigmoid().mean().item()
        loss = functional.binary_cross_entropy_with_logits(logits, clicks)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.loss = loss.item()
        self.step += 1
        for callback in self.callbacks:
            callback(self)


class Calibration:
    """Share of clicks promised over share of clicks seen."""

    def __init__(self, every=10):
        self.every = every
        self.promised = self.seen = 0.0

    @torch.no_grad()
    def __call__(self, pipeline):
        self.promised += pipeline.click_rate
        self.seen += pipeline.batch.clicks.mean().item()
        if pipeline.step % self.every == 0:
            print(f"{pipeline.step:4d} loss {pipeline.loss:.4f} calibration {self.promised / self.seen:.3f}")
            self.promised = self.seen = 0.0
