import torch
from heads import Pyramid
from runner import IterRunner, Ledger


def street(batch=4, size=96, seed=14):
    generator = torch.Generator().manual_seed(seed)
    while True:
        levels = []
        for side in (size // 4, size // 8):
            classes = torch.randint(4, (batch, side, side), generator=generator)
            levels.append((classes, 1 + torch.rand(batch, 4, side, side, generator=generator)))
        yield torch.rand(batch, 3, size, size, generator=generator), levels


def main(ledger_class=Ledger):
    torch.manual_seed(15)
    model = Pyramid()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9)
    IterRunner(model, optimizer, ledger_class()).run(street(), 50)


if __name__ == "__main__":
    main()
