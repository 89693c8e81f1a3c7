import copy

import torch
from torch import nn


class Scorer(nn.Module):
    def __init__(self, vocab=200, width=48):
        super().__init__()
        self.words = nn.EmbeddingBag(vocab, width)
        self.out = nn.Linear(width, vocab)

    def forward(self, words):
        return self.out(torch.tanh(self.words(words)))


class Agent:
    def __init__(self, model):
        self.model = model

    def clone_for_validation(self):
        return Agent(copy.deepcopy(self.model).eval().requires_grad_(False))

    def respond(self, words):
        return self.model(words).argmax(-1)


class TrainableAgent(Agent):
    def __init__(self, model):
        super().__init__(model)
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.5)

    def learn(self, turns):
        loss = nn.functional.cross_entropy(self.model(turns[:, :-1]), turns[:, -1])
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()
