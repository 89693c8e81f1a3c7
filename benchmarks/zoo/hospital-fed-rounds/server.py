import torch


class Server:
    """FedAvg with server momentum; clients whose update strays from the last round's mean weigh less."""

    def __init__(self, model, momentum=0.6):
        self.model = model
        self.momentum = momentum
        self.velocity = {k: torch.zeros_like(v) for k, v in model.state_dict().items()}
        self.history = []

    def broadcast(self):
        return {k: v.clone() for k, v in self.model.state_dict().items()}

    def remember(self, updates):
        self.history.append(updates)

    def weights(self, updates):
        if not self.history:
            return [1 / len(updates)] * len(updates)
        last = self.history[-1]
        mean = {k: sum(u[k] for u in last) / len(last) for k in last[0]}
        distance = torch.stack([sum((u[k] - mean[k]).square().sum() for k in u) for u in updates]).sqrt()
        return torch.softmax(-distance, 0).tolist()

    def aggregate(self, updates):
        weights = self.weights(updates)
        state = self.model.state_dict()
        for key, value in state.items():
            delta = sum(w * u[key] for w, u in zip(weights, updates))
            self.velocity[key].mul_(self.momentum).add_(delta)
            value.add_(self.velocity[key])
        self.remember(updates)
        return max(weights)
