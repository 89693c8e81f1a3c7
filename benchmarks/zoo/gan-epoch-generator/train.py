import torch
from loop import adversarial_epoch
from nets import critic, generator


def images(count, batch=64):
    for _ in range(count):
        yield torch.rand(batch, 1024) * 2 - 1


if __name__ == "__main__":
    torch.manual_seed(4)
    g, d = generator(), critic()
    opt_g = torch.optim.Adam(g.parameters(), lr=2e-4, betas=(0.5, 0.999))
    opt_d = torch.optim.Adam(d.parameters(), lr=2e-4, betas=(0.5, 0.999))
    for record in adversarial_epoch(g, d, opt_g, opt_d, images(40)):
        if record["step"] % 10 == 0:
            print(record)
