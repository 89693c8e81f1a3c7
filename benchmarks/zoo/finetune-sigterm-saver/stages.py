import torch
from torch import nn


class MaskedAutoencoder(nn.Module):
    def __init__(self, columns=72, width=96, decoder_width=768):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(columns, width), nn.GELU(), nn.Linear(width, width))
        self.decoder = nn.Sequential(nn.Linear(width, decoder_width), nn.GELU(), nn.Linear(decoder_width, columns))

    def forward(self, rows, mask):
        return self.decoder(self.encoder(rows * mask))


def pretrain(rows, saver, steps=12):
    """Returns the encoder; the decoder has done its duty."""
    model = MaskedAutoencoder(rows.size(1))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    saver.guard(model, optimizer)
    for step in range(steps):
        mask = (torch.rand(rows.shape) > 0.4).float()
        loss = ((model(rows, mask) - rows) * (1 - mask)).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 10 == 0:
            print("pretrain", step, f"{loss.item():.4f}")
    saver.done()
    return model.encoder


def finetune(encoder, rows, labels, steps=36):
    model = nn.Sequential(encoder, nn.Linear(96, 8))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for step in range(steps):
        loss = nn.functional.cross_entropy(model(rows), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 10 == 0:
            print("finetune", step, f"{loss.item():.4f}")
