import torch
from torch import nn


class Acoustic(nn.Module):
    def __init__(self, mel=40, width=112, letters=20):
        super().__init__()
        self.front = nn.Conv1d(mel, width, 5, stride=2, padding=2)
        self.rnn = nn.GRU(width, width, num_layers=2, batch_first=True)
        self.out = nn.Linear(width, letters)

    def forward(self, mel):
        h = torch.relu(self.front(mel)).transpose(1, 2)
        return self.out(self.rnn(h)[0]).log_softmax(-1)


class Corpus:
    def __init__(self, seed=0):
        self.g = torch.Generator().manual_seed(seed)
        self.sounds = torch.randn(20, 40, generator=self.g)

    def batch(self, n=8, letters=10):
        text = torch.randint(1, 20, (n, letters), generator=self.g)
        frames = self.sounds[text].repeat_interleave(5, 1).transpose(1, 2)
        return frames + 0.6 * torch.randn(frames.shape, generator=self.g), text


def ctc(logp, text):
    n, t, _ = logp.shape
    return nn.functional.ctc_loss(logp.transpose(0, 1), text, torch.full((n,), t), torch.full((n,), text.shape[1]))
