import copy


class BestWeights:
    """State of the best epoch in host memory, for going back to at the end."""

    def __init__(self, mode="min"):
        self.sign = 1 if mode == "min" else -1
        self.score, self.state, self.step = float("inf"), None, -1

    def __call__(self, step, score, model):
        if self.sign * score >= self.score:
            return False
        self.score, self.step = self.sign * score, step
        self.state = copy.deepcopy({name: value.cpu() for name, value in model.state_dict().items()})
        return True

    def restore(self, model):
        model.load_state_dict(self.state)
        return self.step
