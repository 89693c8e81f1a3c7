import torch
from learner import SineNet
from torch.func import functional_call
from torch.nn import functional as F


class SineTasks:
    def __init__(self, shots=40, seed=19):
        self.shots = shots
        self.generator = torch.Generator().manual_seed(seed)

    def sample(self):
        height, phase = torch.rand(2, generator=self.generator) * torch.tensor([4.0, 3.14]) + 0.1
        x = torch.rand(2 * self.shots, 1, generator=self.generator) * 10 - 5
        y = height * torch.sin(x + phase)
        return (x[: self.shots], y[: self.shots]), (x[self.shots :], y[self.shots :])


class MetaTrainer:
    def __init__(self, inner, tasks):
        self.model, self.inner, self.tasks = SineNet(), inner, tasks
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=1e-3)

    def meta_step(self, batch=2):
        total = 0.0
        meta_grads = None
        for _ in range(batch):
            support, query = self.tasks.sample()
            start, fast = self.inner.adapt(self.model, *support)
            loss = F.mse_loss(functional_call(self.model, fast, (query[0],)), query[1])
            grads = torch.autograd.grad(loss, list(start.values()))
            meta_grads = grads if meta_grads is None else [a + b for a, b in zip(meta_grads, grads)]
            total += loss.item()
        self.optimizer.zero_grad()
        for parameter, grad in zip(self.model.parameters(), meta_grads):
            parameter.grad = grad / batch
        self.optimizer.step()
        return total / batch
