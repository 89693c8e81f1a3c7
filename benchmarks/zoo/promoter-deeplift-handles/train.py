import torch
from contributions import Contributions
from report import MotifReport
from sequences import promoters, shuffled
from torch import nn
from torch.nn import functional


def promoter_net(width=32):
    return nn.Sequential(
        nn.Conv1d(4, width, 9, padding=4),
        nn.ReLU(),
        nn.Conv1d(width, width, 9, padding=4),
        nn.ReLU(),
        nn.Conv1d(width, width, 9, padding=4),
        nn.ReLU(),
        nn.AdaptiveMaxPool1d(1),
        nn.Flatten(),
        nn.Linear(width, 1),
    )


def main(contributions=Contributions, steps=50):
    torch.manual_seed(41)
    net, report = promoter_net(), MotifReport()
    optimizer = torch.optim.Adam(net.parameters(), lr=2e-3)
    for step, (onehot, strength) in zip(range(steps), promoters(), strict=False):
        loss = functional.mse_loss(net(onehot).squeeze(1), strength)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        report.add(contributions(net).explain(onehot, shuffled(onehot)))
        if step % 10 == 9:
            print(step + 1, f"{loss.item():.4f}", report.line())


if __name__ == "__main__":
    main()
