from collections import defaultdict

import torch
import torch.nn.functional as F
from images import textures
from metrics import METRICS
from torch import nn

STEPS = 40


class DnCNN(nn.Module):
    def __init__(self, width=16, depth=3):
        super().__init__()
        layers = [nn.Conv2d(3, width, 3, padding=1), nn.ReLU()]
        for _ in range(depth - 2):
            layers += [nn.Conv2d(width, width, 3, padding=1), nn.ReLU()]
        self.body = nn.Sequential(*layers, nn.Conv2d(width, 3, 3, padding=1))

    def forward(self, x):
        return x - self.body(x)


def main(metrics=METRICS):
    torch.manual_seed(0)
    net = DnCNN()
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
    history = defaultdict(list)

    for step, (clean, noisy) in zip(range(STEPS), textures()):
        restored = net(noisy)
        loss = F.l1_loss(restored, clean)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

        history["loss"].append(loss.item())
        for name, metric in metrics.items():
            history[name].append(metric(restored, clean))
        if step % 10 == 9:
            print(step, " ".join(f"{name} {float(values[-1]):.4f}" for name, values in history.items()))

    print("mean over the run:", {name: round(float(sum(values)) / STEPS, 4) for name, values in history.items()})


if __name__ == "__main__":
    main()
