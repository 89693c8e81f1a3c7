class MotifReport:
    """Where the net looks, as a running share of the sites that score twice the mean."""

    def __init__(self):
        self.peaks = {}

    def add(self, scores):
        for name, score in scores.items():
            share = (score > 2 * score.mean()).float().mean().item()
            self.peaks[name] = 0.9 * self.peaks.get(name, share) + 0.1 * share

    def line(self):
        return " ".join(f"{name}={share:.3f}" for name, share in self.peaks.items())
