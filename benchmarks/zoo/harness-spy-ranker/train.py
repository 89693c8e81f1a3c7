import torch
from harness import Harness
from ranking import Losses, Ranker


def fit(net, losses, epochs=5, per_epoch=16):
    optimizer = torch.optim.Adagrad(net.parameters(), lr=0.02)
    g = torch.Generator().manual_seed(1)
    taste = torch.randn(64, 64, generator=g) / 8
    for epoch in range(epochs):
        for i in range(per_epoch):
            query = torch.randn(24, 64, generator=g)
            items = torch.randn(24, 40, 64, generator=g)
            relevance = torch.einsum("bd,bnd->bn", query @ taste, items)
            scores = net(query, items)
            objective = losses.listwise if i % 4 == 3 else losses.pairwise
            loss = objective(scores, items, relevance)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch} loss {loss.item():.4f}")


def main(harness=Harness):
    torch.manual_seed(0)
    losses = Losses()
    harness(losses, ("pairwise", "listwise")).run(fit, Ranker(), losses)


if __name__ == "__main__":
    main()
