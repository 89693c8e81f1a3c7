from collections import defaultdict


class Callback:
    def on_batch_end(self, step, results):
        pass

    def on_fit_end(self):
        pass


class LossPrinter(Callback):
    def __init__(self, every=10):
        self.every = every

    def on_batch_end(self, step, results):
        if step % self.every == 0:
            print(f"{step:3d} mel {results['mel_loss']:.4f}")


class AlignmentPlotter(Callback):
    """Shows how sharp the attention became; pictures are drawn from what it saw, at the end."""

    def __init__(self):
        self.seen = defaultdict(list)

    def on_batch_end(self, step, results):
        self.seen["alignment"].append(results["alignment"])

    def sharpness(self, alignment):
        return alignment.amax(-1).mean().item()

    def on_fit_end(self):
        first, *_, last = self.seen["alignment"]
        print(f"sharpness {self.sharpness(first):.4f} -> {self.sharpness(last):.4f}")
