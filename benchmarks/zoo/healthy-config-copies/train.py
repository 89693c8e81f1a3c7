import torch
from config import Config, History
from torch import nn


def main(steps=50):
    torch.manual_seed(6)
    config, history = Config(), History()
    model = nn.Sequential(nn.Linear(90, 150), nn.ReLU(), nn.Dropout(config.dropout), nn.Linear(150, 4))
    optimizer = torch.optim.SGD(model.parameters(), lr=config.lr)
    for step in range(steps):
        config.lr *= 0.97
        optimizer.param_groups[0]["lr"] = config.lr
        x = torch.randn(64, 90)
        loss = nn.functional.cross_entropy(model(x), x[:, :4].argmax(1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        history.note(step, config, loss.item())
    print("best", history.best().tags, f"{history.best().lr:.4f}")


if __name__ == "__main__":
    main()
