import torch
import torch.nn.functional as F

from committee import Committee
from sections import Drawer, SectionNet


class Campaign:
    def __init__(self, committee, first=24):
        self.drawer = Drawer()
        self.drawer.label(torch.arange(first))
        self.model = SectionNet()
        self.committee = committee
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=1e-3)

    def fit(self, steps):
        images, taxon = self.drawer.labelled()
        for _ in range(steps):
            loss = F.cross_entropy(self.model(images), taxon)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
        self.committee.seat(self.model)
        return loss.item()

    def ask(self, count):
        score = self.committee.disagreement(self.drawer.images)
        score[~self.drawer.open] = -1
        self.drawer.label(score.topk(count).indices)


def main(committee=Committee, rounds=15):
    torch.manual_seed(44)
    campaign = Campaign(committee())
    for number in range(rounds):
        loss = campaign.fit(steps=3)
        campaign.ask(count=8)
        print(f"round {number}: loss {loss:.3f}, {int((~campaign.drawer.open).sum())} labelled")


if __name__ == "__main__":
    main()
