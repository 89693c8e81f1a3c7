import torch
from physics import heat_residual


class Solver:
    def __init__(self, field, collocation, summary_class):
        self.field, self.collocation, self.summary_class = field, collocation, summary_class
        self.parameters = list(field.parameters())
        self.optimizer = torch.optim.Adam(self.parameters, lr=2e-3)

    def minimise(self, loss):
        for parameter, grad in zip(self.parameters, torch.autograd.grad(loss, self.parameters), strict=True):
            parameter.grad = grad
        self.optimizer.step()
        self.optimizer.zero_grad()

    def batch(self, summary):
        residual = heat_residual(self.field, self.collocation.inside())
        points, values = self.collocation.boundary()
        fit = (self.field(points) - values).square().mean()
        physics = residual.square().mean()
        summary.add(physics.detach(), residual)
        self.minimise(physics + fit)

    def epoch(self, batches):
        summary = self.summary_class()
        for _ in range(batches):
            self.batch(summary)
        return summary
