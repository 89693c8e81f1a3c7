import torch
from resilient import check_batch, run_guarded
from torch import nn


class Session:
    def __init__(self):
        self.model = nn.Sequential(nn.Linear(96, 256), nn.ReLU(), nn.Linear(256, 8))
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=1e-3)
        self.attempts = 0

    def train_batch(self, features, labels):
        self.attempts += 1
        jitter = features + 0.5 * torch.randn_like(features)
        if self.attempts % 2 == 1:
            check_batch(features, jitter, limit=1.0)
        loss = nn.functional.cross_entropy(self.model(jitter), labels)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()


def main(guard=run_guarded, steps=40):
    torch.manual_seed(2)
    session = Session()
    for step in range(steps):
        features, labels = torch.randn(200, 96), torch.randint(8, (200,))
        loss = guard(session.train_batch, features, labels)
        if step % 10 == 0:
            print(step, session.attempts, f"{loss:.3f}")


if __name__ == "__main__":
    main()
