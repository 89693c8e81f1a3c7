import torch
from gauges import LevelForecaster, record
from memory import WindowMemory


def epoch(model, optimizer, memory, windows):
    memory.reset()
    recent = []
    for window, following in record(windows):
        recent = [*recent[-5:], advance(model, optimizer, memory, window, following)]
        yield sum(recent) / len(recent)


def advance(model, optimizer, memory, window, following):
    loss = (model(window, memory) - following).square().mean()
    optimizer.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    return loss.item()


def main(epochs=2, windows=24):
    torch.manual_seed(330)
    model = LevelForecaster()
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    memory = WindowMemory()
    for number in range(epochs):
        *_, smooth = epoch(model, optimizer, memory, windows)
        print(f"epoch {number} loss over the last windows {smooth:.4f}")


if __name__ == "__main__":
    main()
