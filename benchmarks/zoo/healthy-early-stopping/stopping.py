class EarlyStopping:
    def __init__(self, patience=5):
        self.patience = patience
        self.best = float("inf")
        self.best_state = None
        self.waited = 0

    def update(self, score, model):
        if score < self.best - 1e-4:
            self.best, self.waited = score, 0
            self.best_state = {name: value.detach().cpu().clone() for name, value in model.state_dict().items()}
        else:
            self.waited += 1
        return self.waited >= self.patience
