import torch
from torch import nn


class Backbone(nn.Module):
    def __init__(self, width, vocab=200, outputs=None):
        super().__init__()
        self.embed = nn.Embedding(vocab, width)
        self.rnn = nn.GRU(width, width, batch_first=True)
        self.head = nn.Linear(width, vocab if outputs is None else outputs)

    def forward(self, ids):
        return self.head(self.rnn(self.embed(ids))[0])


class RewardModel(nn.Module):
    def __init__(self, width=256):
        super().__init__()
        self.backbone = Backbone(width, outputs=1)

    def forward(self, ids):
        return self.backbone(ids)[:, -1, 0]


def length_reward(ids):
    """A rule in place of the learned judge: rewards runs of distinct tokens."""
    return (ids[:, 1:] != ids[:, :-1]).float().mean(1)


def frozen(model):
    return model.eval().requires_grad_(False)


def make_models(seed=0):
    torch.manual_seed(seed)
    return {"policy": Backbone(64), "reference": frozen(Backbone(64)), "reward": frozen(RewardModel())}
