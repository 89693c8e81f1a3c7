import copy

from selection import ModelSelection
from train import train


class OnlyTheBest(ModelSelection):
    def consider(self, step, model, score):
        better = score < self.best_score
        if better:
            self.best_score = score
            self.candidates = [(score, step, copy.deepcopy(model))]
        return better


if __name__ == "__main__":
    best = train(OnlyTheBest())
    print("parameters of the best model:", sum(p.numel() for p in best.parameters()))
