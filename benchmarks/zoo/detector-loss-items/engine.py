import torch


class BaseTrainer:
    names = ("box_loss", "cls_loss", "iou")

    def __init__(self, model, loader, epochs=4, lr=0.002):
        self.model, self.loader, self.epochs = model, loader, epochs
        self.optimizer = torch.optim.SGD(model.parameters(), lr=lr, momentum=0.9, nesterov=True)
        self.loss_items = None
        self.mean = None
        self.callbacks = {"on_train_batch_end": [], "on_train_epoch_end": []}

    def add_callback(self, event, function):
        self.callbacks[event].append(function)

    def run_callbacks(self, event):
        for function in self.callbacks[event]:
            function(self)

    def optimizer_step(self):
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), max_norm=10.0)
        self.optimizer.step()
        self.optimizer.zero_grad()

    def forward(self, image, targets):
        loss, self.loss_items = self.model(image, targets)
        return loss

    def do_train(self):
        for _ in range(self.epochs):
            self.mean = None
            for image, targets in self.loader(10):
                self.forward(image, targets).backward()
                self.optimizer_step()
                self.run_callbacks("on_train_batch_end")
            self.run_callbacks("on_train_epoch_end")

    def label(self):
        return "  ".join(f"{name} {value:.4f}" for name, value in zip(self.names, self.mean, strict=True))
