import torch
from criterion import MaskedLmCriterion
from progress import aggregate
from torch import nn


class MaskedModel(nn.Module):
    def __init__(self, vocab=500, dim=48):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.mix = nn.LSTM(dim, dim // 2, batch_first=True, bidirectional=True)
        self.head = nn.Linear(dim, vocab)

    def forward(self, tokens):
        return self.head(self.mix(self.embed(tokens))[0])


def samples(count, batch=6, length=30, vocab=500):
    generator = torch.Generator().manual_seed(67)
    for _ in range(count):
        targets = torch.randint(2, vocab, (batch, length), generator=generator)
        hidden = torch.rand(batch, length, generator=generator) < 0.15
        yield {"tokens": targets.masked_fill(hidden, 1), "targets": targets}


def train_step(model, criterion, optimizer, sample):
    loss, size, output = criterion(model, sample)
    optimizer.zero_grad()
    (loss / size).backward()
    optimizer.step()
    return output


def main(criterion=None):
    torch.manual_seed(68)
    model, criterion = MaskedModel(), criterion or MaskedLmCriterion()
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    with aggregate(criterion.reduce_metrics, interval=20) as aggregator:
        for sample in samples(60):
            aggregator.log(train_step(model, criterion, optimizer, sample))


if __name__ == "__main__":
    main()
