import torch
from episodes import Embedder, episodes
from metrics import BestDice, Tracker
from torch import nn


def main(tracker_class=Tracker):
    torch.manual_seed(16)
    net = Embedder()
    optimizer = torch.optim.Adam(net.parameters(), lr=3e-3)
    tracker = tracker_class(BestDice())
    for number, (support, (query, masks)) in enumerate(episodes()):
        tracker.increment()
        logits = net(*support, query)
        loss = nn.functional.binary_cross_entropy_with_logits(logits, masks)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        tracker.update(logits.sigmoid(), masks)
        if number % 9 == 8:
            print(f"episode {number:2d} loss {loss.item():.4f} dice {tracker.current.compute():.3f}")
    print("dice by episode", [round(dice, 3) for dice in tracker.curve()])


if __name__ == "__main__":
    main()
