import torch
from rounds import Validation
from torch import nn


def heartbeats(seed, batches, batch, length=400):
    def loader():
        generator = torch.Generator().manual_seed(seed)
        time = torch.linspace(0, 30, length)
        for _ in range(batches):
            labels = torch.randint(2, (batch,), generator=generator)
            rate = 1 + 0.03 * labels[:, None] + 0.02 * torch.randn(batch, 1, generator=generator)
            yield (rate * time).sin() + 2 * torch.randn(batch, length, generator=generator), labels

    return loader


def main(epochs=6):
    torch.manual_seed(93)
    model = nn.Sequential(nn.Linear(400, 128), nn.ReLU(), nn.Dropout(0.2), nn.Linear(128, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    training, validation = heartbeats(1, 6, 32), Validation(heartbeats(2, 3, 400))
    for epoch in range(epochs):
        for beats, labels in training():
            loss = nn.functional.binary_cross_entropy_with_logits(model(beats).squeeze(-1), labels.float())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(epoch, f"{loss.item():.4f} area {validation(model):.4f}")


if __name__ == "__main__":
    main()
