from torch import nn
from torch.nn import functional


class ScaleJudge(nn.Module):
    """Scores a waveform and gives the map of every layer along with it."""

    def __init__(self, width=16):
        super().__init__()
        self.layers = nn.ModuleList(
            [nn.Conv1d(1, width, 15, 2, 7), nn.Conv1d(width, width, 15, 2, 7), nn.Conv1d(width, 2 * width, 5, 2, 2)]
        )
        self.last = nn.Conv1d(2 * width, 1, 3, 1, 1)

    def forward(self, wave):
        maps = []
        for layer in self.layers:
            wave = functional.leaky_relu(layer(wave), 0.1)
            maps.append(wave)
        return self.last(wave), maps


class MultiScaleJudge(nn.Module):
    def __init__(self):
        super().__init__()
        self.scales = nn.ModuleList([ScaleJudge(), ScaleJudge()])

    def forward(self, real, fake):
        real_scores, fake_scores, real_maps, fake_maps = [], [], [], []
        for index, judge in enumerate(self.scales):
            if index:
                real, fake = functional.avg_pool1d(real, 4, 2, 1), functional.avg_pool1d(fake, 4, 2, 1)
            for wave, scores, maps in ((real, real_scores, real_maps), (fake, fake_scores, fake_maps)):
                score, layers = judge(wave)
                scores.append(score)
                maps.append(layers)
        return real_scores, fake_scores, real_maps, fake_maps


def judge_loss(real_scores, fake_scores):
    return sum(((1 - r) ** 2).mean() + (f**2).mean() for r, f in zip(real_scores, fake_scores))


def map_loss(wanted, given):
    return 2 * sum(functional.l1_loss(have, want.detach()) for w, g in zip(wanted, given) for want, have in zip(w, g))


def voice_loss(scores):
    return sum(((1 - score) ** 2).mean() for score in scores)
