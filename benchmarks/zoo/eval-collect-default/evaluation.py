import torch


@torch.no_grad()
def evaluate(model, batches, predictions=[]):
    """Mean absolute error over some batches."""
    total, count = 0.0, 0
    for x, y in batches:
        predictions.append(model(x))
        total += (predictions[-1] - y).abs().sum().item()
        count += y.numel()
    return total / count
