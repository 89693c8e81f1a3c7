import copy
import math


class RateFinder:
    """Leslie Smith's range test: the rate rises by a factor each batch, then all is put back."""

    def __init__(self, net, optimizer, criterion, low=1e-5, high=2.0, beta=0.9):
        self.net, self.optimizer, self.criterion = net, optimizer, criterion
        self.low, self.high, self.beta = low, high, beta
        self.saved = {"net": copy.deepcopy(net.state_dict()), "optimizer": copy.deepcopy(optimizer.state_dict())}
        self.history = {"lr": [], "loss": []}

    def sweep(self, batches, n):
        factor = (self.high / self.low) ** (1 / (n - 1))
        rate, average = self.low, 0.0
        for i in range(n):
            x, y = next(batches)
            for group in self.optimizer.param_groups:
                group["lr"] = rate
            loss = self.criterion(self.net(x), y)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            average = self.beta * average + (1 - self.beta) * loss.item()
            smooth = average / (1 - self.beta ** (i + 1))
            self.history["lr"].append(rate)
            self.history["loss"].append(smooth)
            if i > 5 and smooth > 4 * min(self.history["loss"]) or math.isnan(smooth):
                break
            rate *= factor
        return self.suggestion()

    def suggestion(self):
        losses = self.history["loss"]
        drops = [b - a for a, b in zip(losses, losses[1:])]
        return self.history["lr"][drops.index(min(drops))]

    def reset(self):
        self.net.load_state_dict(self.saved["net"])
        self.optimizer.load_state_dict(self.saved["optimizer"])
        self.saved = None
