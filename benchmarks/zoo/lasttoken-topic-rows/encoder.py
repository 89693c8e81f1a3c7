import torch
from torch import nn


class Output:
    def __init__(self, states, scores):
        self.states = states
        self.scores = scores

    def sentence(self):
        return self.states[:, -1]


class SentenceEncoder(nn.Module):
    def __init__(self, vocab=150, width=64, topics=5):
        super().__init__()
        self.embed = nn.Embedding(vocab, width)
        self.rnn = nn.GRU(width, width, batch_first=True)
        self.topic = nn.Linear(width, topics)

    def forward(self, tokens):
        states, _ = self.rnn(self.embed(tokens))
        return Output(states, self.topic(states[:, -1]))


def texts(batch=8, length=24, topics=5, seed=61):
    generator = torch.Generator().manual_seed(seed)
    while True:
        topic = torch.randint(topics, (batch,), generator=generator)
        tokens = torch.randint(30, (batch, length), generator=generator) + topic[:, None] * 30
        yield tokens, topic
