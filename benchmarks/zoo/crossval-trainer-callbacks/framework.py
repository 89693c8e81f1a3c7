import torch


class Callback:
    trainer = None

    def attach(self, trainer):
        self.trainer = trainer

    def after_fit(self):
        pass


class ResultWriter(Callback):
    def __init__(self, results):
        self.results = results

    def after_fit(self):
        self.results.append(round(self.trainer.validate(), 4))


class FoldTrainer:
    def __init__(self, model, data, callbacks):
        self.model, self.data = model, data
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
        self.callbacks = callbacks
        for callback in callbacks:
            callback.attach(self)

    def fit(self):
        x, y = self.data["train"]
        loss = torch.nn.functional.binary_cross_entropy_with_logits(self.model(x).squeeze(1), y)
        loss.backward()
        self.optimizer.step()
        self.optimizer.zero_grad()
        for callback in self.callbacks:
            callback.after_fit()

    @torch.no_grad()
    def validate(self):
        x, y = self.data["valid"]
        return ((self.model(x).squeeze(1) > 0) == y.bool()).float().mean().item()
