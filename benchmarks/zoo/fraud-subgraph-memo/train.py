import torch
from gcn import GCN
from graph import Payments
from torch.nn.functional import binary_cross_entropy_with_logits as bce


def main(epochs=6, per_epoch=15, batch=20):
    torch.manual_seed(4)
    payments = Payments()
    net = GCN()
    optimizer = torch.optim.Adam(net.parameters(), lr=5e-3)
    for epoch in range(epochs):
        total = 0.0
        for _ in range(per_epoch):
            graph = payments.around(payments.seeds(batch))
            loss = bce(net(graph), graph.ring[graph.seeds])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        with torch.no_grad():
            check = [payments.around(payments.seeds(batch)) for _ in range(3)]
            held = sum(bce(net(c), c.ring[c.seeds]).item() for c in check) / 3
        print(f"epoch {epoch} {total / per_epoch:.3f} held {held:.3f}")


if __name__ == "__main__":
    main()
