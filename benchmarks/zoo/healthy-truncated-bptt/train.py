import torch
from torch import nn
from torch.nn.functional import mse_loss


class LoadForecaster(nn.Module):
    def __init__(self, meters=24, dim=64):
        super().__init__()
        self.core = nn.LSTM(meters, dim, num_layers=2, batch_first=True)
        self.out = nn.Linear(dim, meters)

    def forward(self, window, state=None):
        hidden, state = self.core(window, state)
        return self.out(hidden), state


def detached(state):
    return tuple(part.detach() for part in state)


class Stream:
    """Hourly load of many districts, handed out window after window; the state goes along."""

    def __init__(self, districts=8, hours=1300, meters=24, width=24):
        generator = torch.Generator().manual_seed(89)
        hour = torch.arange(hours).view(1, -1, 1) / 24 * 2 * torch.pi
        phase = torch.rand(districts, 1, meters, generator=generator) * 6
        self.load = torch.sin(hour + phase) + 0.1 * torch.randn(districts, hours, meters, generator=generator)
        self.width = width

    def __iter__(self):
        for start in range(0, self.load.size(1) - self.width - 1, self.width):
            yield self.load[:, start : start + self.width], self.load[:, start + 1 : start + self.width + 1]


class StatefulTrainer:
    def __init__(self, model, optimizer):
        self.model, self.optimizer = model, optimizer
        self.state = None

    def step(self, window, following):
        predicted, state = self.model(window, self.state)
        loss = mse_loss(predicted, following)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.state = detached(state)
        return loss.item()


def main():
    torch.manual_seed(90)
    model = LoadForecaster()
    trainer = StatefulTrainer(model, torch.optim.Adam(model.parameters(), lr=4e-3))
    for number, (window, following) in enumerate(Stream()):
        loss = trainer.step(window, following)
        if number % 10 == 0:
            print(number, f"{loss:.4f}")


if __name__ == "__main__":
    main()
