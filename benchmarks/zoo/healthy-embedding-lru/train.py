import random

import torch
from articles import Desk, Reader, Relevance
from store import Recent
from torch.nn import functional


def main(steps=48):
    torch.manual_seed(1)
    chance = random.Random(1)
    desk = Desk(Reader().eval())
    codes = Recent(desk.read, room=20)
    net = Relevance()
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
    for step in range(steps):
        shown = [min(int(chance.paretovariate(0.7)), desk.count) for _ in range(6)]
        right = codes[shown[0]]
        question = right.mean(0) + 0.05 * torch.randn(64)
        scores = net(question, [codes[number] for number in shown])
        loss = functional.cross_entropy(scores[None], torch.tensor([0]))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 12 == 0:
            print(step, f"{loss.item():.4f}", codes.hits, "hits")


if __name__ == "__main__":
    main()
