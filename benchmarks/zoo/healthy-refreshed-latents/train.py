import torch
from latents import LatentBank
from seismic import Catalogue, TraceEncoder
from torch import nn


def main(epochs=9, every=3):
    torch.manual_seed(3)
    bank = LatentBank(TraceEncoder(), Catalogue(), every)
    head = nn.Sequential(nn.LayerNorm(64), nn.Linear(64, 96), nn.GELU(), nn.Linear(96, 1))
    optimizer = torch.optim.Adam(head.parameters(), lr=3e-3)
    for epoch in range(epochs):
        total = 0.0
        for latents, depth in bank.epoch(epoch):
            loss = nn.functional.huber_loss(head(latents).squeeze(1), depth)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        print(f"epoch {epoch} {total:.4f}")


if __name__ == "__main__":
    main()
