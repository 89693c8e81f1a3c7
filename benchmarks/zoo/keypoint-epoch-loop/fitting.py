from torch.nn import functional


class Fitter:
    def __init__(self, model, optimizer):
        self.model, self.optimizer = model, optimizer

    def step(self, images, blobs):
        heatmaps = self.model(images)
        loss = functional.mse_loss(heatmaps, blobs)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item(), heatmaps

    def epoch(self, source):
        for images, blobs, where in source:
            yield *self.step(images, blobs), where
