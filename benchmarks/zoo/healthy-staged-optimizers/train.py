import torch
from soundings import BathymetryNet, depth_loss, echoes
from stages import Stage, StageRunner


def main():
    torch.manual_seed(53)
    stages = [
        Stage("head", ("head",), 14, torch.optim.SGD, {"lr": 0.1, "momentum": 0.9}),
        Stage("skip", ("head", "skip"), 14, torch.optim.RMSprop, {"lr": 1e-3}),
        Stage("all", ("head", "skip", "trunk"), 14, torch.optim.AdamW, {"lr": 1e-3}),
        Stage("settle", ("head", "trunk"), 14, torch.optim.AdamW, {"lr": 2e-4, "weight_decay": 0.05}),
    ]
    table = {}
    runner = StageRunner(BathymetryNet(), stages)
    for stage in runner.run(echoes(), depth_loss):
        table[stage.name] = stage
        print(stage.name, *(f"{value:.4f}" for value in (*stage.curve[0], *stage.curve[-1])))
    print(len(table), "stages")


if __name__ == "__main__":
    main()
