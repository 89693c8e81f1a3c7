import torch
from simclr import SimCLR, info_nce, uniformity
from utils.meters import MeterGroup


def augment(x, generator):
    return x + 0.1 * torch.randn(x.shape, generator=generator)


def main(steps=40, batch_size=128):
    torch.manual_seed(0)
    generator = torch.Generator().manual_seed(0)
    model = SimCLR()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    meters = MeterGroup("nce", "uniformity")
    for step in range(steps):
        x = torch.randn(batch_size, 256, generator=generator)
        a, b = model(augment(x, generator)), model(augment(x, generator))
        loss = info_nce(a, b)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        meters.update(batch_size, nce=loss.item(), uniformity=uniformity(b))
        if step % 10 == 9:
            print(step, meters)


if __name__ == "__main__":
    main()
