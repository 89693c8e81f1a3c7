"""What one attempt to grasp leaves behind."""


class Episode:
    __slots__ = ("number", "reward", "value", "action")

    def __init__(self, number, action, value, reward):
        self.number = number
        self.action = action
        self.value = value
        self.reward = reward

    def surprise(self):
        return (self.reward - self.value.detach()).abs().mean().item()


class Archive:
    """Episodes in the order of their surprise."""

    def __init__(self):
        self.ranked = []

    def file(self, episode):
        at = 0
        while at < len(self.ranked) and self.ranked[at].surprise() > episode.surprise():
            at += 1
        self.ranked.insert(at, episode)

    def best(self, count):
        return [episode.number for episode in self.ranked[:count]]
