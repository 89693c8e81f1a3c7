import torch


class KernelDistance:
    """Unbiased polynomial MMD between the features of real and made samples.

    Every pair counts, so `update` collects and `compute` looks at all of it.
    """

    def __init__(self, extractor):
        self.extractor = extractor.eval().requires_grad_(False)
        self.states = {"real": [], "made": []}

    @torch.no_grad()
    def update(self, **samples):
        for kind, batch in samples.items():
            self.states[kind].append(self.extractor(batch))

    def compute(self):
        real, made = (torch.cat(self.states[kind]) for kind in ("real", "made"))

        def kernel(a, b):
            return (a @ b.T / a.shape[1] + 1) ** 3

        def off_diagonal(square):
            n = len(square)
            return (square.sum() - square.diagonal().sum()) / (n * (n - 1))

        value = off_diagonal(kernel(real, real)) + off_diagonal(kernel(made, made)) - 2 * kernel(real, made).mean()
        return value.item()

    def reset(self):
        for collected in self.states.values():
            collected.clear()
