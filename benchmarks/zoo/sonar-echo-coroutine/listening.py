from collections import Counter, deque


def scorer(net):
    """Takes profiles by send() and answers with the scores of their range cells."""
    scores = None
    while True:
        profiles = yield scores
        scores = net(profiles)


class Alarm:
    """Rings when a cell has been far above the usual for several pings."""

    def __init__(self, patience=2, factor=2.5):
        self.recent = deque(maxlen=16)
        self.patience, self.factor = patience, factor
        self.high = 0

    def __call__(self, level):
        usual = sum(self.recent) / len(self.recent) if self.recent else level
        self.recent.append(level)
        self.high = self.high + 1 if level > self.factor * usual else 0
        return self.high >= self.patience


class Watch:
    def __init__(self, net, alarm, make_scorer=scorer):
        self.alarm = alarm
        self.scorer = make_scorer(net.eval())
        next(self.scorer)
        self.seen = Counter()

    def hear(self, profiles):
        cells = self.scorer.send(profiles).abs().amax(1)
        level = cells.mean().item()
        self.seen["rung" if self.alarm(level) else "quiet"] += 1
        return level
