import torch
import torch.nn.functional as F

from margins import MarginBook
from towers import TwoTowers


def sessions(count, batch=160, seed=70):
    gen = torch.Generator().manual_seed(seed)
    for _ in range(count):
        history = torch.randint(600, (batch, 12), generator=gen)
        yield history, torch.cat([history % 80, history // 80], dim=1)[:, :16], history[:, 0] % 7


def main(book=MarginBook, steps=40):
    torch.manual_seed(71)
    model, margins = TwoTowers(), book()
    optimizer = torch.optim.Adagrad(model.parameters(), lr=0.05)
    for history, tags, genre in sessions(steps):
        scores = model(history, tags)
        loss = F.cross_entropy(scores, torch.arange(len(scores)))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        margins.note(scores.detach(), genre)
    for genre, margin in margins.table().items():
        print(f"genre {genre}: {margin:.3f}")


if __name__ == "__main__":
    main()
