import torch
from mining import hard_pairs
from runtime import open_session
from torch import nn


def cross_encoder():
    return nn.Sequential(nn.Linear(120, 700), nn.ReLU(), nn.Linear(700, 700), nn.ReLU(), nn.Linear(700, 1))


def mine(batches, session=open_session):
    reranker = cross_encoder().eval()
    with session(reranker, temperature=0.5):
        pairs = hard_pairs(batches)
    del reranker
    return pairs


def fit_bi_encoder(pairs, steps):
    towers = nn.Bilinear(60, 60, 1)
    optimizer = torch.optim.Adam(towers.parameters(), lr=1e-3)
    for step in range(steps):
        both, target = pairs[step % len(pairs)]
        score = towers(both[:, :60], both[:, 60:]).squeeze(1)
        loss = nn.functional.binary_cross_entropy_with_logits(score, target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 10 == 0:
            print(step, f"{loss.item():.4f}")


def main(session=open_session):
    torch.manual_seed(19)
    batches = [torch.randn(64, 120) for _ in range(8)]
    fit_bi_encoder(mine(batches, session), steps=40)


if __name__ == "__main__":
    main()
