from torch.nn import functional


class Pipeline:
    """Stages called in order; each reads and writes the pipeline's own fields."""

    def __init__(self, source, *stages):
        self.source = iter(source)
        self.stages = stages
        self.mels = self.batch = None
        self.loss = 0.0

    def advance(self):
        self.batch = next(self.source)
        for stage in self.stages:
            stage(self)
        return self.loss


def spectral(frontend):
    def stage(pipe):
        pipe.mels = frontend(pipe.batch["waves"])

    return stage


def normalize(pipe):
    pipe.mels = (pipe.mels - pipe.mels.mean((1, 2), keepdim=True)) / pipe.mels.std((1, 2), keepdim=True)


def learn(net, optimizer):
    def stage(pipe):
        optimizer.zero_grad()
        loss = functional.cross_entropy(net(pipe.mels), pipe.batch["labels"])
        loss.backward()
        optimizer.step()
        pipe.loss = loss.item()

    return stage
