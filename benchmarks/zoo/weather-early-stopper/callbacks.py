import copy


class Callback:
    def on_validation(self, model, value):
        """Called after every validation."""

    def on_train_end(self, model):
        """Called once."""


class EarlyStopping(Callback):
    """Stops when the validation error has not fallen for `patience` rounds; gives the best weights back."""

    def __init__(self, patience=6, min_delta=0.0):
        self.patience, self.min_delta = patience, min_delta
        self.best_value = float("inf")
        self.waited = 0
        self.checkpoints = []

    @property
    def stop(self):
        return self.waited >= self.patience

    def on_validation(self, model, value):
        if value < self.best_value - self.min_delta:
            self.best_value, self.waited = value, 0
            self.save(model, value)
        else:
            self.waited += 1

    def save(self, model, value):
        self.checkpoints.append((value, copy.deepcopy(model.state_dict())))

    def on_train_end(self, model):
        value, weights = min(self.checkpoints, key=lambda pair: pair[0])
        model.load_state_dict(weights)
        print(f"restored the weights with validation error {value:.4f}")
