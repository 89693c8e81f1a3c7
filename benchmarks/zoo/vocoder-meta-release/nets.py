import torch
from torch import nn


class Postnet(nn.Module):
    def __init__(self, mels=40, width=128):
        super().__init__()
        self.refine = nn.Sequential(
            nn.Conv1d(mels, width, 5, padding=2), nn.Tanh(), nn.Conv1d(width, width, 5, padding=2), nn.Tanh()
        )
        self.out = nn.Conv1d(width, mels, 5, padding=2)

    def forward(self, mel):
        return mel + self.out(self.refine(mel))


class Acoustic(nn.Module):
    def __init__(self, phones=60, mels=40, width=96):
        super().__init__()
        self.phones = nn.Embedding(phones, width)
        self.rnn = nn.GRU(width, width, batch_first=True)
        self.mel = nn.Linear(width, mels)

    def forward(self, ids):
        return self.mel(self.rnn(self.phones(ids))[0]).transpose(1, 2)


class Tts(nn.Module):
    def __init__(self):
        super().__init__()
        self.acoustic, self.postnet = Acoustic(), Postnet()

    def forward(self, ids):
        rough = self.acoustic(ids)
        return rough, rough if self.postnet is None else self.postnet(rough)

    def drop_postnet(self):
        """The last stage trains the acoustic model alone; whoever still has the module gets an empty one."""
        self.postnet.to(torch.device("meta"))
        self.postnet = None
