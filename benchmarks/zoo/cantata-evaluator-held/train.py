import torch
from torch.nn.functional import cross_entropy

from cantata.evaluator import Evaluator
from cantata.harmony import Harmoniser


def pieces(count, seed):
    generator = torch.Generator().manual_seed(seed)
    return [
        (torch.randint(0, 48, (4, 32), generator=generator), torch.randint(0, 24, (4, 32), generator=generator))
        for _ in range(count)
    ]


def main(make_evaluator=Evaluator, steps=48, eval_steps=8):
    torch.manual_seed(4)
    model = Harmoniser()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    evaluator = make_evaluator(model, pieces(6, 1))
    train = pieces(8, 2)
    for step in range(1, steps + 1):
        melody, chords = train[step % len(train)]
        loss = cross_entropy(model(melody).flatten(0, 1), chords.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        del loss
        if step % eval_steps == 0:
            print(step, evaluator.evaluate())


if __name__ == "__main__":
    main()
