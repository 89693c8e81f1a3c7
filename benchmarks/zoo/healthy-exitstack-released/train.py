import torch
from torch import nn
import torch.nn.functional as F

from sections import Section


def model(width=24):
    return nn.Sequential(nn.Conv1d(6, width, 5, padding=2), nn.ELU(), nn.Conv1d(width, 6, 5, padding=2))


def main(sections=12, panels=4):
    torch.manual_seed(210)
    net = model()
    optimizer = torch.optim.Adam(net.parameters(), lr=3e-3)
    for number in range(sections):
        with Section(f"section {number}") as section:
            for panel in range(panels):
                clean = torch.sin(torch.linspace(0, 9 + panel, 200)).expand(16, 6, 200)
                noisy = clean + 0.3 * torch.randn(16, 6, 200)
                guess = net(noisy)
                loss = F.mse_loss(guess, clean)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                section.keep(guess.detach(), number * panels + panel)


if __name__ == "__main__":
    main()
