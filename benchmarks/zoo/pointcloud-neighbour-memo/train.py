from itertools import islice

import torch
from neighbours import NeighbourIndex
from network import CloudClassifier, clouds


def main(make_index=NeighbourIndex, steps=40):
    torch.manual_seed(4)
    index = make_index()
    model = CloudClassifier(index)
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    right = 0
    for step, (points, kinds) in enumerate(islice(clouds(), steps), 1):
        scores = model(points)
        loss = torch.nn.functional.cross_entropy(scores, kinds)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        right += (scores.argmax(1) == kinds).sum().item()
        if step % 10 == 0:
            print(f"{step}: loss {loss.item():.4f}, right {right}, searches asked {index.asked}")


if __name__ == "__main__":
    main()
