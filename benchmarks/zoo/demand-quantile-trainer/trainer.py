from dataclasses import dataclass, field
from typing import Any, Iterable

import torch
from model import coverage_gap, crossing, pinball


@dataclass
class TrainerState:
    optimizer: Any
    epoch: int = 0
    step: int = 0
    weights: dict = field(default_factory=lambda: {"pinball": 1.0, "crossing": 0.1})


class CallbackList:
    def __init__(self, callbacks: Iterable) -> None:
        self.callbacks = list(callbacks)

    def fire(self, event: str, state: TrainerState, **kwargs) -> None:
        for callback in self.callbacks:
            getattr(callback, event)(state, **kwargs)


class Trainer:
    """Small trainer with Hugging Face manners."""

    def __init__(self, model, callbacks=(), lr=3e-3):
        self.model = model
        self.handler = CallbackList(callbacks)
        self.state = TrainerState(torch.optim.AdamW(model.parameters(), lr=lr))

    def compute_terms(self, history, future):
        quantiles = self.model(history)
        error = future.unsqueeze(-1) - quantiles
        return {
            "pinball": pinball(error, self.model.levels),
            "crossing": crossing(quantiles),
            "coverage": coverage_gap(error, self.model.levels),
        }

    def training_step(self, history, future):
        terms = self.compute_terms(history, future)
        objective = sum(weight * terms[name] for name, weight in self.state.weights.items())
        self.state.optimizer.zero_grad()
        objective.backward()
        self.state.optimizer.step()
        self.state.step += 1
        self.handler.fire("on_substep", self.state, terms=terms)

    def train(self, dataset, epochs):
        self.handler.fire("on_train_begin", self.state)
        for self.state.epoch in range(epochs):
            for history, future in dataset:
                self.training_step(history, future)
            self.handler.fire("on_epoch_end", self.state)
