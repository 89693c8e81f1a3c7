import copy

import torch


class Server:
    def __init__(self, model):
        self.model = model
        self.rounds = []

    def aggregate(self, updates):
        mean = {name: torch.stack([update[name] for update in updates]).mean(0) for name in updates[0]}
        self.model.load_state_dict(mean)
        self.rounds.append({"clients": len(updates), "state": copy.deepcopy(self.model.state_dict())})

    def drift(self):
        if len(self.rounds) < 2:
            return 0.0
        before, now = self.rounds[-2]["state"], self.rounds[-1]["state"]
        return sum((now[name] - before[name]).norm().item() for name in now)
