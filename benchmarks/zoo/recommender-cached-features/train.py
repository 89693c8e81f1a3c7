import torch
from features import FeatureStore
from torch import nn


class Ranker(nn.Module):
    def __init__(self, store):
        super().__init__()
        self.store = store
        self.user = nn.Embedding(100, 64)
        self.out = nn.Linear(64, 1)

    def forward(self, users, items):
        return self.out(self.user(users) * self.store.lookup(items)).squeeze(-1)


def main(store, steps=40):
    torch.manual_seed(0)
    model = Ranker(store)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for step in range(steps):
        users, items = torch.randint(100, (256,)), torch.randint(500, (256,))
        clicked = ((users + items) % 3 == 0).float()
        loss = nn.functional.binary_cross_entropy_with_logits(model(users, items), clicked)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 10 == 0:
            print(step, loss.item())


if __name__ == "__main__":
    main(FeatureStore())
