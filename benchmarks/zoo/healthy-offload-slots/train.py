import torch
from clips import ClipNet, clips
from slots import Slots
from torch.nn import functional


def main(steps=36):
    torch.manual_seed(27)
    net = ClipNet()
    optimizer = torch.optim.RMSprop(net.parameters(), lr=1e-3)
    slots = Slots()
    for step, (clip, gesture) in zip(range(steps), clips()):
        with slots:
            loss = functional.cross_entropy(net(clip), gesture)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 9 == 8:
            print(step, f"{loss.item():.4f}", f"{slots.most / 2**20:.1f} MiB at most,", len(slots.kept), "slots taken")


if __name__ == "__main__":
    main()
