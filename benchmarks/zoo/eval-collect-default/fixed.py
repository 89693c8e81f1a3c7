import torch
from train import main


@torch.no_grad()
def evaluate(model, batches):
    total, count = 0.0, 0
    for x, y in batches:
        total += (model(x) - y).abs().sum().item()
        count += y.numel()
    return total / count


if __name__ == "__main__":
    main(evaluate)
