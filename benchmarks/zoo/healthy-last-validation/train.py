import torch
from torch import nn
from torch.nn.functional import mse_loss
from validation import Validation


def readings(count, generator):
    inputs = torch.randn(count, 60, generator=generator)
    return inputs, inputs[:, :20].tanh() + 0.1 * torch.randn(count, 20, generator=generator)


def train_epoch(model, optimizer, generator, steps=8):
    for _ in range(steps):
        inputs, wanted = readings(128, generator)
        loss = mse_loss(model(inputs), wanted)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def main():
    torch.manual_seed(107)
    generator = torch.Generator().manual_seed(108)
    model = nn.Sequential(nn.Linear(60, 160), nn.SiLU(), nn.Dropout(0.1), nn.Linear(160, 20))
    optimizer = torch.optim.NAdam(model.parameters(), lr=3e-3)
    validation = Validation(model, readings(1000, generator))
    for epoch in range(6):
        train_epoch(model, optimizer, generator)
        print(epoch, f"{validation.run():.4f}", validation.curve())


if __name__ == "__main__":
    main()
