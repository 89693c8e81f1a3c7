import torch


class Tally:
    """Everything that an epoch's report needs: counts by class, a loss curve of floats, the ten worst pictures."""

    def __init__(self, classes, worst=10):
        self.counts = torch.zeros(classes, classes, dtype=torch.long)
        self.curve = []
        self.room = worst
        self.worst = []

    def add(self, pictures, scores, labels, losses):
        guesses = scores.argmax(1)
        self.counts.index_put_((labels, guesses), torch.ones_like(labels), accumulate=True)
        self.curve.append(losses.mean().item())
        for i in losses.topk(3).indices.tolist():
            self.worst.append((losses[i].item(), pictures[i].clone(), int(guesses[i])))
        self.worst.sort(key=lambda row: -row[0])
        del self.worst[self.room :]

    def __str__(self):
        recall = self.counts.diagonal() / self.counts.sum(1).clamp(min=1)
        return f"recall {recall.mean():.3f} loss {sum(self.curve) / len(self.curve):.3f} worst {self.worst[0][0]:.2f}"
