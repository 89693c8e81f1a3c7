import torch
from evaluator import Evaluator
from train import main


class LeanEvaluator(Evaluator):
    def run(self, tiles):
        was_training = self.network.training
        self.network.eval()
        with torch.no_grad():
            for index, (tile, target) in enumerate(tiles):
                self.confusion.update(self.network(tile)["out"].argmax(1), target)
                for callback in self.callbacks:
                    callback(index, self)
        self.network.train(was_training)
        return self.confusion.iou()


if __name__ == "__main__":
    main(LeanEvaluator)
