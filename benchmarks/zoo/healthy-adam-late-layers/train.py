import torch
from model import Staged


def main(steps=48):
    torch.manual_seed(1)
    model = Staged()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for step in range(steps):
        model.active = 1 + step * len(model.stages) // steps
        x = torch.randn(32, 160)
        loss = torch.nn.functional.smooth_l1_loss(model(x), -x)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
    print("final loss", loss.item())


if __name__ == "__main__":
    main()
