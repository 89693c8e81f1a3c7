import torch
import torch.nn.functional as F

from durations.corpus import sentences
from durations.feed import Feed
from durations.model import DurationNet


def fit(feed):
    phonemes, _ = feed.first()
    model = DurationNet(features=phonemes.shape[-1])
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for number, (phonemes, wanted) in enumerate(feed, 1):
        loss = F.smooth_l1_loss(model(phonemes), wanted)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if number % 10 == 0:
            print(f"{number}: {loss.item():.4f}")


def main(feed=Feed, steps=40):
    torch.manual_seed(16)
    fit(feed(sentences(steps)))


if __name__ == "__main__":
    main()
