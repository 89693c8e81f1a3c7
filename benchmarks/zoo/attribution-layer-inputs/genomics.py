import torch
from torch import nn


class BindingModel(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv1d(4, width, 9, padding=4), nn.ReLU(), nn.Conv1d(width, width, 5, padding=2), nn.ReLU()
        )
        self.head = nn.Linear(width, 1)

    def forward(self, sequences):
        return self.head(self.body(sequences).amax(-1)).squeeze(-1)


class Regions:
    def __init__(self, batch=12, length=160, seed=4):
        self.batch, self.length = batch, length
        self.generator = torch.Generator().manual_seed(seed)

    def draw(self):
        letters = torch.randint(4, (self.batch, self.length), generator=self.generator)
        sequences = nn.functional.one_hot(letters, 4).transpose(1, 2).float()
        return sequences, (letters[:, 50:60] == 2).float().mean(1)
