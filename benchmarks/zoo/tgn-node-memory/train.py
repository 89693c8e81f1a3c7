import torch
from links import Events, LinkPredictor
from torch.nn.functional import softplus


def train_batch(model, optimizer, source, target, wrong, time):
    candidates = torch.stack([target, wrong])
    scores = model(source.repeat(2), candidates.flatten()).view(2, -1)
    loss = softplus(-scores[0]).mean() + softplus(scores[1]).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    model.memory.write(source, target, time)
    return loss.item()


def main(**parts):
    torch.manual_seed(12)
    model = LinkPredictor(**parts)
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    recent = []
    for number, event in enumerate(Events(), 1):
        recent.append(train_batch(model, optimizer, *event))
        if number % 10 == 0:
            print(f"{number:3d} events loss {sum(recent) / len(recent):.4f}")
            recent.clear()


if __name__ == "__main__":
    main()
