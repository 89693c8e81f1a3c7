import torch
from functional import bowed_attention
from network import BowingTagger
from torch.nn import functional as F

STROKES = 9


def phrases(count, batch=6, frames=48, mels=40):
    g = torch.Generator().manual_seed(52)
    prototypes = torch.randn(STROKES, mels, generator=g)
    for _ in range(count):
        strokes = torch.randint(STROKES, (batch, frames // 6), generator=g).repeat_interleave(6, dim=1)
        yield prototypes[strokes] + 0.8 * torch.randn(batch, frames, mels, generator=g), strokes


def step(model, opt, mels, strokes):
    loss = F.cross_entropy(model(mels).flatten(0, 1), strokes.flatten())
    opt.zero_grad()
    loss.backward()
    opt.step()
    return loss.item()


def main(attend=bowed_attention, steps=45):
    torch.manual_seed(51)
    model = BowingTagger(attend=attend)
    opt = torch.optim.Adam(model.parameters(), lr=2e-3)
    losses = [step(model, opt, mels, strokes) for mels, strokes in phrases(steps)]
    print("first ten", sum(losses[:10]) / 10, "last ten", sum(losses[-10:]) / 10)


if __name__ == "__main__":
    main()
