import torch
from position import Position
from selfplay import Arena, ValueNet, collate
from torch.nn import functional


def main(position_class=Position, steps=40):
    torch.manual_seed(70)
    net, arena = ValueNet(), Arena(position_class)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
    for step in range(steps):
        planes, worth = next(arena)
        loss = functional.mse_loss(net(planes), worth)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 10 == 9:
            print(f"step {step + 1}: loss {loss.item():.4f}")
    print("collated in a while" if collate.seconds > 0 else "collated at once")


if __name__ == "__main__":
    main()
