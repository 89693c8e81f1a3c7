"""Embeds trail descriptions once, lets the text tower go, trains a ranker on the rows."""

import torch

from trails.ranker import Ranker, fit
from trails.tower import Embedder, TextTower


def prepare(batches=5):
    embedder = Embedder(TextTower().requires_grad_(False))
    rows = torch.cat([embedder(torch.randint(900, (16, 20))) for _ in range(batches)])
    embedder.close()
    return rows


def main():
    torch.manual_seed(40)
    rows = prepare()
    print(f"{len(rows)} rows")
    fit(Ranker(), rows, steps=36)


if __name__ == "__main__":
    main()
