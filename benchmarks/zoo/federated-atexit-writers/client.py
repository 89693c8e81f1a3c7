import atexit
import copy

import torch
from torch import nn


class Journal:
    """Lines of one client; whatever is still open is closed when the process ends."""

    def __init__(self, client):
        self.client = client
        self.lines = []
        self.open = True
        self.register()

    def register(self):
        atexit.register(self.close)

    def write(self, text):
        self.lines.append(text)

    def close(self):
        self.open = False


class Client:
    journal_type = Journal

    def __init__(self, number, model, rows, labels):
        self.number = number
        self.model = copy.deepcopy(model)
        self.rows, self.labels = rows, labels
        self.journal = self.journal_type(self)

    def train(self, lr):
        optimizer = torch.optim.SGD(self.model.parameters(), lr=lr)
        loss = nn.functional.cross_entropy(self.model(self.rows), self.labels)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        self.journal.write(f"{self.number}: {loss.item():.4f}")
        self.journal.close()
        return [p.detach() for p in self.model.parameters()]
