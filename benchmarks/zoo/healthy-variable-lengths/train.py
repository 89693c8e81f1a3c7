import random

import torch
from torch import nn
from torch.nn.utils.rnn import pad_sequence


def utterances(rng):
    lengths = [rng.randint(20, 120) for _ in range(6)]
    audio = pad_sequence([torch.randn(length, 32) for length in lengths], batch_first=True)
    return audio, torch.tensor(lengths)


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.GRU(32, 48, batch_first=True, bidirectional=True)
        self.out = nn.Linear(96, 7)

    def forward(self, audio, lengths):
        packed = nn.utils.rnn.pack_padded_sequence(audio, lengths, batch_first=True, enforce_sorted=False)
        hidden, _ = self.rnn(packed)
        hidden, _ = nn.utils.rnn.pad_packed_sequence(hidden, batch_first=True)
        return self.out(hidden.mean(1))


def main():
    torch.manual_seed(0)
    rng = random.Random(0)
    model = Tagger()
    optimizer = torch.optim.Adam(model.parameters())
    for step in range(40):
        audio, lengths = utterances(rng)
        loss = nn.functional.cross_entropy(model(audio, lengths), torch.randint(7, (6,)))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(loss.item())


if __name__ == "__main__":
    main()
