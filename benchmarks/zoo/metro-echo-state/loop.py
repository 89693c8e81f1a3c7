from typing import Iterator, Protocol

import torch


class TrainingModule(Protocol):
    def configure_optimizers(self) -> torch.optim.Optimizer: ...

    def training_step(self, batch: torch.Tensor) -> torch.Tensor: ...


class FitLoop:
    def __init__(self, log_every: int = 10) -> None:
        self.log_every = log_every

    def advance(self, module: TrainingModule, optimizer: torch.optim.Optimizer, batch: torch.Tensor) -> float:
        def closure() -> torch.Tensor:
            optimizer.zero_grad()
            loss = module.training_step(batch)
            loss.backward(retain_graph=True)
            return loss.detach()

        return optimizer.step(closure).item()

    def run(self, module: TrainingModule, batches: Iterator[torch.Tensor]) -> None:
        optimizer = module.configure_optimizers()
        for number, batch in enumerate(batches, 1):
            loss = self.advance(module, optimizer, batch)
            if number % self.log_every == 0:
                print(f"stretch {number} loss {loss:.4f}")
