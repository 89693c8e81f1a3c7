"""Trains the lesion classifier and reviews each round's least certain crops with activation maps."""

import torch
import torch.nn.functional as F

from dermscan.data import CropSource
from dermscan.explain_v2 import CamExplainer
from dermscan.model import LesionNet


class ReviewLoop:
    """One optimisation step, then a look at where the network looked."""

    def __init__(self, model, source, explainer):
        self.model = model
        self.source = source
        self.explainer = explainer
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)

    def fit_step(self):
        images, labels = self.source.draw(12)
        logits = self.model(images)
        loss = F.cross_entropy(logits, labels)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()

    def review(self):
        images, labels = self.source.draw(16)
        maps = self.explainer.explain(images, labels)
        inside = images.mean(1, keepdim=True) > 0.4
        return (maps * inside).sum().div(maps.sum()).item()


def main():
    torch.manual_seed(11)
    model = LesionNet()
    loop = ReviewLoop(model, CropSource(seed=3), CamExplainer(model, ["stage2", "stage3"]))
    for round_no in range(16):
        loss = loop.fit_step()
        focus = loop.review()
        if round_no % 4 == 3:
            print(f"round {round_no + 1}: loss {loss:.3f}, focus on lesion {focus:.2f}")


if __name__ == "__main__":
    main()
