import torch
from learner import CriticLearner
from train import main


class CleanLearner(CriticLearner):
    def gradients(self, loss):
        found = torch.autograd.grad(loss, self.learned, create_graph=True)
        for p, g in zip(self.learned, found):
            p.grad = g
        return found


if __name__ == "__main__":
    main(CleanLearner)
