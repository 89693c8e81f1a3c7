class Accuracy:
    def __init__(self, transform=lambda output: (output["y_pred"], output["y"])):
        self.transform = transform
        self.right = self.seen = 0

    def attach(self, engine, name):
        engine.on("iteration")(self.update)

        @engine.on("epoch")
        def finish(engine):
            engine.state.metrics[name] = self.right / self.seen
            self.right = self.seen = 0

    def update(self, engine):
        predicted, y = self.transform(engine.state.output)
        self.right += (predicted.argmax(1) == y).sum().item()
        self.seen += y.numel()
