"""Mixed precision with a scaler, pinned batches, checkpointed blocks, averaged weights, a captured graph, two streams:
a training in which nothing leaks."""

import copy

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint
from torch.utils.data import DataLoader, TensorDataset


class Block(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.layers = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, hidden):
        return hidden + self.layers(self.norm(hidden))


class Model(nn.Module):
    def __init__(self, width: int = 256) -> None:
        super().__init__()
        self.blocks = nn.ModuleList(Block(width) for _ in range(4))
        self.head = nn.Linear(width, 100)

    def forward(self, hidden):
        for block in self.blocks:
            hidden = checkpoint(block, hidden, use_reentrant=False)
        return self.head(hidden)


def captured_scorer(model: nn.Module, sample: torch.Tensor):
    """Replays the averaged model on a static input."""
    static = sample.clone()
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side), torch.no_grad():
        for _ in range(2):
            model(static)
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.no_grad(), torch.cuda.graph(graph):
        scores = model(static)

    def score(batch: torch.Tensor) -> torch.Tensor:
        static.copy_(batch)
        graph.replay()
        return scores

    return score


def main() -> None:
    torch.manual_seed(0)
    model = Model().cuda()
    average = copy.deepcopy(model).requires_grad_(False)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    scaler = torch.amp.GradScaler("cuda")
    data = TensorDataset(torch.randn(64 * 48, 256), torch.randint(100, (64 * 48,)))
    score = captured_scorer(average, torch.randn(64, 256, device="cuda"))
    copies = torch.cuda.Stream()
    right = torch.zeros((), device="cuda")
    for inputs, labels in DataLoader(data, batch_size=64, pin_memory=True):
        with torch.cuda.stream(copies):
            inputs, labels = inputs.cuda(non_blocking=True), labels.cuda(non_blocking=True)
        torch.cuda.current_stream().wait_stream(copies)
        inputs.record_stream(torch.cuda.current_stream())
        labels.record_stream(torch.cuda.current_stream())
        with torch.autocast("cuda", torch.float16):
            loss = nn.functional.cross_entropy(model(inputs), labels)
        optimizer.zero_grad()
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
        del loss
        with torch.no_grad():
            torch._foreach_lerp_(list(average.parameters()), list(model.parameters()), 0.01)
        right += (score(inputs).argmax(dim=1) == labels).sum()
    print(f"right {right.item():.0f}")


if __name__ == "__main__":
    main()
