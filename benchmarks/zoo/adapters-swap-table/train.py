import torch
from host import Host
from swapping import Swapper
from torch.nn import functional


def writers(count, batches=2, size=8, length=24):
    generator = torch.Generator().manual_seed(36)
    for _ in range(count):
        habit = torch.randint(40, (40,), generator=generator)
        first = torch.randint(40, (batches, size, length), generator=generator)
        yield [(text, habit[text]) for text in first]


def tune(host, parameters, batches):
    optimizer = torch.optim.SGD(parameters, lr=0.05, momentum=0.9)
    for text, following in batches:
        loss = functional.cross_entropy(host(text).flatten(0, 1) / 8, following.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return loss.item()


def main(swapper_class=Swapper, count=30):
    torch.manual_seed(35)
    host = Host()
    swapper = swapper_class(host)
    for number, batches in enumerate(writers(count)):
        loss = tune(host, swapper.fresh(), batches)
        if loss > 5:
            swapper.back()
        if number % 6 == 0:
            print(f"writer {number:2d} {loss:.4f}")


if __name__ == "__main__":
    main()
