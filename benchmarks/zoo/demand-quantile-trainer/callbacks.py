"""Trainer callbacks."""

from torch import Tensor


class Callback:
    def on_train_begin(self, state): ...

    def on_substep(self, state, terms: dict[str, Tensor]): ...

    def on_epoch_end(self, state): ...


class Schedule(Callback):
    """Halves the learning rate after each epoch."""

    def on_epoch_end(self, state):
        for group in state.optimizer.param_groups:
            group["lr"] *= 0.5


class TermMeans(Callback):
    """Mean of every reported term since training began."""

    def on_train_begin(self, state):
        self.sums: dict[str, Tensor | float] = {}
        self.count = 0

    def on_substep(self, state, terms):
        self.count += 1
        for name, value in terms.items():
            self.sums[name] = self.sums.get(name, 0.0) + value

    def on_epoch_end(self, state):
        means = {name: float(total) / self.count for name, total in self.sums.items()}
        print(f"epoch {state.epoch}", " ".join(f"{name} {mean:.4f}" for name, mean in means.items()))
