from engine import BaseTrainer
from train import main


class DetachingTrainer(BaseTrainer):
    def forward(self, image, targets):
        loss, items = self.model(image, targets)
        self.loss_items = items.detach()
        return loss


if __name__ == "__main__":
    main(DetachingTrainer)
