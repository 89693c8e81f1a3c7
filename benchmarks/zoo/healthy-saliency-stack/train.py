import torch
from saliency import Looker, describe, watching
from sherds import sherd_net, sherds
from torch.nn import functional


def main(steps=48):
    torch.manual_seed(43)
    net = sherd_net()
    optimizer = torch.optim.Adam(net.parameters(), lr=2e-3)
    looker = Looker(net, ["rim", "decor", "temper"])

    @watching(looker)
    def step(images, labels):
        loss = functional.cross_entropy(net(images), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss.item()

    for number, (images, labels) in zip(range(steps), sherds(), strict=False):
        loss = step(images, labels)
        if number % 12 == 11:
            print(number + 1, f"{loss:.4f}", describe(looker.shares))


if __name__ == "__main__":
    main()
