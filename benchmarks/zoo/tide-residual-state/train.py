import torch
from forecast import Decomposed, explained
from gauges import Gauges


def main(model=Decomposed, epochs=5, per_epoch=10):
    torch.manual_seed(0)
    gauges = Gauges()
    net = model()
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
    for epoch in range(epochs):
        for _ in range(per_epoch):
            x, y = gauges.batch(32)
            loss = (net(x) - y).abs().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(epoch, round(loss.item(), 4), explained())


if __name__ == "__main__":
    main()
