from __future__ import annotations

from dataclasses import dataclass

import torch

from desk.spread import pinball, summarise


@dataclass
class Context:
    """One batch on its way through the pipeline."""

    index: int
    window: torch.Tensor | None = None
    target: torch.Tensor | None = None
    loss: float = 0.0


class QuotePipeline:
    def __init__(self, model, optimizer):
        self.model = model
        self.optimizer = optimizer
        self.context = None
        self.index = 0

    def fetch(self, feed):
        batch = next(feed, None)
        if batch is None:
            return None
        self.index += 1
        context = Context(self.index)
        context.window, context.target = batch.ticks, batch.spread
        return context

    def prepare(self, context):
        return summarise(context.window)

    def progress(self, feed):
        """Train on the next batch; None when the feed is empty."""
        self.context = None
        self.context = self.fetch(feed)
        if self.context is None:
            return None
        features = self.prepare(self.context)
        self.optimizer.zero_grad(set_to_none=True)
        loss = pinball(self.model(features), self.context.target)
        loss.backward()
        self.optimizer.step()
        self.context.loss = loss.item()
        return self.context.loss
