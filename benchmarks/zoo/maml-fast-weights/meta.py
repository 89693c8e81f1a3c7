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

    def task_step(self, support, query):
        start, fast = self.inner.adapt(self.model, *support)
        loss = F.mse_loss(functional_call(self.model, fast, (query[0],)), query[1])
        for parameter, grad in zip(self.model.parameters(), torch.autograd.grad(loss, list(start.values()))):
            parameter.grad = grad if parameter.grad is None else parameter.grad + grad
        return loss.item()

    def meta_step(self, batch=2):
        self.optimizer.zero_grad()
        losses = [self.task_step(*self.tasks.sample()) for _ in range(batch)]
        self.optimizer.step()
        return sum(losses) / batch
