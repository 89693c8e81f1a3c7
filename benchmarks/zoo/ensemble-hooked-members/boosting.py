import torch
from members import Member


class Boosting:
    """Fits one small net after another to what is left of the target."""

    def __init__(self, member=Member, shrinkage=0.3):
        self.member, self.shrinkage = member, shrinkage
        self.silent = []

    def fit_member(self, x, residual):
        net = self.member(x.size(1))
        optimizer = torch.optim.SGD(net.parameters(), lr=0.02)
        loss = (net(x) - residual).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        self.silent.append(net.silent)
        with torch.no_grad():
            return self.shrinkage * net(x)

    def fit(self, x, y, rounds):
        left = y.clone()
        for number in range(rounds):
            left -= self.fit_member(x, left)
            if number % 10 == 0:
                print(number, f"{left.square().mean().item():.4f}", f"silent {self.silent[-1]:.2f}")
