"""Learns small go positions from its own tree search."""

import torch

from go.network import PositionNet
from go.search import Search
from go.selfplay import SelfPlay


def main(search_class=Search, steps=40):
    torch.manual_seed(81)
    play = SelfPlay(PositionNet(), search_class)
    for step in range(1, steps + 1):
        loss, best = play.step()
        if step % 10 == 0:
            print(f"step {step}: loss {loss:.4f}, move {best}")


if __name__ == "__main__":
    main()
