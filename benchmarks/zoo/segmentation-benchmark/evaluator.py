import torch


class Confusion:
    def __init__(self, classes):
        self.counts = torch.zeros(classes, classes, dtype=torch.long)

    def update(self, predicted, target):
        classes = len(self.counts)
        cells = torch.bincount((target * classes + predicted).flatten(), minlength=classes**2)
        self.counts += cells.view(classes, classes)

    def iou(self):
        hit = self.counts.diag().float()
        return (hit / (self.counts.sum(0) + self.counts.sum(1) - hit).clamp(min=1)).mean().item()


class Evaluator:
    """Runs a network over tiles and tells the callbacks of each batch."""

    def __init__(self, network, confusion, callbacks=()):
        self.network, self.confusion, self.callbacks = network, confusion, callbacks

    def run(self, tiles):
        was_training = self.network.training
        self.network.eval()
        with torch.no_grad():
            for index, (tile, target) in enumerate(tiles):
                outputs = self.network(tile)
                self.confusion.update(outputs["out"].argmax(1), target)
                for callback in self.callbacks:
                    callback(index, self)
        self.network.train(was_training)
        return self.confusion.iou()


def every(interval, function):
    def callback(index, evaluator):
        if (index + 1) % interval == 0:
            function(index + 1, evaluator)

    return callback
