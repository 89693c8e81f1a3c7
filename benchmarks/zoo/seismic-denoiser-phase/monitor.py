class GradientMonitor:
    """Norms of the gradients, by the name of the phase that is on."""

    def __init__(self, every=8):
        self.every, self.seen = every, 0
        self.tracks = {}
        self.rows = []

    def follow(self, label, net):
        self.tracks[label] = [weight for weight in net.parameters() if weight.requires_grad]

    def after_step(self):
        self.seen += 1
        if self.seen % self.every:
            return
        for label, weights in self.tracks.items():
            norms = [weight.grad.norm().item() for weight in weights if weight.grad is not None]
            if norms:
                self.rows.append((self.seen, label, max(norms)))

    def report(self):
        for seen, label, norm in self.rows:
            print(f"{seen:3d} {label:8} {norm:.4f}")
