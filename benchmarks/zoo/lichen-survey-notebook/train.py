from pathlib import Path

import torch
from torch import nn

from bench.workspace import Workspace


def cover_net():
    return nn.Sequential(
        nn.Conv2d(3, 8, 5, stride=2), nn.ReLU(), nn.AdaptiveAvgPool2d(4), nn.Flatten(), nn.Linear(128, 1), nn.Sigmoid()
    )


def main(workspace_class=Workspace, plots=20):
    torch.manual_seed(50)
    model = cover_net()
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    workspace = workspace_class(Path(__file__).parent / "bench")
    for plot in range(plots):
        error, cover = workspace.run("cover.py", "error", "mean_cover", plot=plot, model=model, optimizer=optimizer)
        if plot % 5 == 4:
            print(f"plot {plot}: cover {cover:.2f}, error {error:.4f}")


if __name__ == "__main__":
    main()
