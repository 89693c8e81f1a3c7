import torch
from torch.nn import functional


def split_hour(hour, seen, ahead):
    return hour[:, :seen], hour[:, seen:]


def critical_success(forecast, target, threshold=0.35):
    hit = ((forecast > threshold) & (target > threshold)).sum((0, 2, 3))
    either = ((forecast > threshold) | (target > threshold)).sum((0, 2, 3))
    return hit / either.clamp_min(1)


class Fitter:
    def __init__(self, model, lr):
        self.model = model
        self.optimizer = torch.optim.Adam(model.parameters(), lr=lr)
        self.curve = []
        self.skill = 0.0

    def objective(self, forecast, target):
        weight = 1 + 4 * target
        return (weight * functional.mse_loss(forecast, target, reduction="none")).mean()

    def fit(self, hours):
        self.model.train()
        for hour in hours:
            past, future = split_hour(hour, self.model.seen, self.model.ahead)
            forecast = self.model(past)
            loss = self.objective(forecast, future)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            self.curve.append(loss.item())
            self.skill = critical_success(forecast.detach(), future).mean().item()
        print("skill", round(self.skill, 3))
