import torch
from torch.func import functional_call


class MetaLearner:
    def __init__(self, model, inner_lr=0.05, inner_steps=2):
        self.model, self.inner_lr, self.inner_steps = model, inner_lr, inner_steps
        self.adapted = {}

    def adapt(self, task):
        weights = dict(self.model.named_parameters())
        for _ in range(self.inner_steps):
            predicted = functional_call(self.model, weights, (task.support_x,))
            loss = torch.nn.functional.mse_loss(predicted, task.support_y)
            grads = torch.autograd.grad(loss, list(weights.values()), create_graph=True)
            weights = {name: w - self.inner_lr * g for (name, w), g in zip(weights.items(), grads, strict=True)}
        self.adapted[task.name] = weights
        return weights

    def query_loss(self, task):
        predicted = functional_call(self.model, self.adapt(task), (task.query_x,))
        return torch.nn.functional.mse_loss(predicted, task.query_y)
