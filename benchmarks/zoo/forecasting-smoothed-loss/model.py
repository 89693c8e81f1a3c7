import torch
from torch import nn


class Forecaster(nn.Module):
    def __init__(self, hidden=48, horizon=12):
        super().__init__()
        self.rnn = nn.GRUCell(1, hidden)
        self.out = nn.Linear(hidden, horizon)
        self.trend = nn.Linear(48, 256)

    def forward(self, past):
        state = torch.zeros(len(past), self.rnn.hidden_size)
        for value in past.unbind(1):
            state = self.rnn(value[:, None], state)
        drift = torch.tanh(self.trend(past)).pow(2).mean()
        return self.out(state), drift
