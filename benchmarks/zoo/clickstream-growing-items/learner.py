import torch
from torch.nn import functional


class OnlineLearner:
    def __init__(self, model, lr=3e-3):
        self.model = model
        self.optimizer = torch.optim.Adam(model.parameters(), lr=lr)
        self.seen = 0

    def admit(self, catalogue):
        if catalogue > self.model.items.num_embeddings:
            weight = self.model.enlarge(catalogue)
            self.watch(weight)

    def watch(self, weight):
        self.optimizer.add_param_group({"params": [weight]})

    def learn(self, sessions):
        self.admit(sessions.catalogue)
        self.optimizer.zero_grad()
        loss = functional.cross_entropy(self.model(sessions.clicks), sessions.following)
        loss.backward()
        self.optimizer.step()
        self.seen += len(sessions.following)
        return loss.item()
