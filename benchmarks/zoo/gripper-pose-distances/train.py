import torch
import torch.nn.functional as F
from geometry import PoseMetric
from grasping import GraspScorer, bin_scenes, smoothness


class GraspTrainer:
    def __init__(self, model, metric, lr=2e-3):
        self.model = model
        self.metric = metric
        self.optimizer = torch.optim.Adam(model.parameters(), lr=lr)

    def fit(self, poses, works):
        scores = self.model(poses)
        weight = self.metric.crowding(poses)
        loss = F.binary_cross_entropy_with_logits(scores, works, weight=weight / weight.mean())
        loss = loss + 0.05 * smoothness(scores, self.metric.neighbours(poses))
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()


def main(metric=PoseMetric, scenes=52):
    torch.manual_seed(200)
    trainer = GraspTrainer(GraspScorer(), metric())
    for number, scene in enumerate(bin_scenes(scenes)):
        loss = trainer.fit(*scene)
        if number % 13 == 0:
            print(f"scene {number:2d} loss {loss:.4f}")


if __name__ == "__main__":
    main()
