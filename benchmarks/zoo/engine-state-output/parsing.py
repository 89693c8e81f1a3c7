import torch
from torch import nn


class FieldNet(nn.Module):
    """Crop types per pixel from a stack of satellite bands."""

    def __init__(self, bands=6, crops=12, width=24):
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv2d(bands, width, 3, padding=1), nn.ReLU(), nn.Conv2d(width, width, 1), nn.ReLU()
        )
        self.head = nn.Conv2d(width, crops, 1)

    def forward(self, x):
        return self.head(self.net(x))


def parcels(batches=12, batch=4, side=48):
    def loader():
        generator = torch.Generator().manual_seed(6)
        for _ in range(batches):
            x = torch.rand(batch, 6, side, side, generator=generator)
            yield x, (x[:, 0] * 6 + x[:, 1] * 6).long()

    return loader


def supervised(model, optimizer, loss_fn):
    def update(engine, batch):
        x, y = batch
        model.train()
        optimizer.zero_grad()
        y_pred = model(x)
        loss = loss_fn(y_pred, y)
        loss.backward()
        optimizer.step()
        return {"loss": loss.item(), "y_pred": y_pred, "y": y}

    return update
