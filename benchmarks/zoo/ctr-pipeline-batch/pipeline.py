import torch


class InputDist:
    """Turns the raw record block of the reader into what the model takes."""

    def __init__(self, buckets):
        self.buckets = buckets

    def __call__(self, record):
        return {"dense": record["dense"], "ids": record["ids"] % self.buckets, "click": record["click"]}


class TrainPipeline:
    """Reads one batch ahead, so that reading and training overlap."""

    def __init__(self, model, optimizer, criterion, input_dist):
        self.model, self.optimizer, self.criterion = model, optimizer, criterion
        self.input_dist = input_dist
        self.upcoming = None
        self.current = None

    def _fill(self, reader):
        if self.upcoming is None:
            self.upcoming = next(reader)
        self.current = self.input_dist(self.upcoming)
        self.upcoming = next(reader, None)

    def progress(self, reader):
        self._fill(reader)
        self.optimizer.zero_grad(set_to_none=True)
        labels = self.current["click"]
        loss = self.criterion(self.model(self.current), labels)
        loss.backward()
        self.optimizer.step()
        return loss.item()


class ClickReader:
    def __init__(self, batch=128, dense=512, fields=6, blocks=41, seed=3):
        self.generator = torch.Generator().manual_seed(seed)
        self.shape, self.fields, self.blocks = (batch, dense), fields, blocks

    def __iter__(self):
        for _ in range(self.blocks):
            dense = torch.rand(self.shape, generator=self.generator).mul_(9.0)
            ids = torch.randint(10**6, (self.shape[0], self.fields), generator=self.generator)
            click = (dense[:, 0] + torch.randn(self.shape[0], generator=self.generator) > 4.5).float()
            yield {"dense": dense, "ids": ids, "click": click}
