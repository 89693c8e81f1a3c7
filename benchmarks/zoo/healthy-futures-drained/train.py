import torch
from torch import nn
import torch.nn.functional as F

from writer import IndexWriter


class PassageEncoder(nn.Module):
    def __init__(self, vocabulary=500, width=96):
        super().__init__()
        self.words = nn.EmbeddingBag(vocabulary, width)
        self.out = nn.Linear(width, width)

    def forward(self, ids):
        return F.normalize(self.out(torch.tanh(self.words(ids))), dim=-1)


def main(steps=50, batch=96):
    torch.manual_seed(250)
    gen = torch.Generator().manual_seed(251)
    encoder, writer = PassageEncoder(), IndexWriter()
    optimizer = torch.optim.Adam(encoder.parameters(), lr=1e-3)
    for _ in range(steps):
        passages = torch.randint(500, (batch, 30), generator=gen)
        questions = passages[:, torch.randperm(30, generator=gen)[:8]]
        rows = encoder(passages)
        loss = F.cross_entropy(encoder(questions) @ rows.T / 0.1, torch.arange(batch))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        writer.submit(rows.detach())
    writer.close()
    print(f"{writer.rows} rows written, checksum {writer.checksum}")


if __name__ == "__main__":
    main()
