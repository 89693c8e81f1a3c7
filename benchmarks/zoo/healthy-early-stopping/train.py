import torch
from stopping import EarlyStopping
from torch import nn


def main(steps=60):
    torch.manual_seed(0)
    weights = torch.randn(30)
    x_val = torch.randn(200, 30)
    model = nn.Sequential(nn.Linear(30, 200), nn.ReLU(), nn.Linear(200, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    stopping = EarlyStopping()
    for step in range(steps):
        x = torch.randn(64, 30)
        loss = (model(x).squeeze(1) - x @ weights).abs().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 4 == 3:
            with torch.no_grad():
                score = (model(x_val).squeeze(1) - x_val @ weights).abs().mean().item()
            if stopping.update(score, model):
                break
    model.load_state_dict(stopping.best_state)
    print(step, stopping.best)


if __name__ == "__main__":
    main()
