import copy


class ModelSelection:
    """Remembers candidate models with their validation score."""

    def __init__(self, keep_improvements_only=False):
        self.keep_improvements_only = keep_improvements_only
        self.candidates = []
        self.best_score = float("inf")

    def consider(self, step, model, score):
        better = score < self.best_score
        self.best_score = min(score, self.best_score)
        if better or not self.keep_improvements_only:
            self.candidates.append((score, step, copy.deepcopy(model)))
        return better

    def best(self):
        return min(self.candidates, key=lambda item: item[0])[2]
