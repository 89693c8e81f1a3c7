import torch
from detector import detection_loss


class Callback:
    def on_step_end(self, trainer):
        pass


class ScorePrinter(Callback):
    def __init__(self, every):
        self.every = every

    def on_step_end(self, trainer):
        if trainer.global_step % self.every == 0:
            confident = (trainer.last_outputs["masks"] > 0.5).float().mean().item()
            print(f"{trainer.global_step}: loss {trainer.loss_value:.3f}, {confident:.1%} of mask cells on")


class Trainer:
    def __init__(self, model, callbacks=()):
        self.model = model
        self.callbacks = list(callbacks)
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9)
        self.global_step = 0
        self.last_outputs = None
        self.loss_value = float("nan")

    def training_step(self, images, targets):
        self.last_outputs = self.model(images)
        return detection_loss(self.last_outputs, targets)

    def fit(self, loader):
        for images, targets in loader:
            loss = self.training_step(images, targets)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            self.loss_value = loss.item()
            self.global_step += 1
            for callback in self.callbacks:
                callback.on_step_end(self)
