import torch


class Segment:
    """A stretch of an episode; knows its episode, which knows its segments."""

    def __init__(self, episode, observations, rewards):
        self.episode = episode
        self.observations, self.rewards = observations, rewards

    def returns(self, discount=0.97):
        total, out = 0.0, []
        for reward in reversed(self.rewards.tolist()):
            total = reward + discount * total
            out.append(total)
        return torch.tensor(out[::-1]) - self.episode.baseline


class Episode:
    def __init__(self, baseline):
        self.baseline = baseline
        self.segments = []

    def add(self, observations, rewards):
        self.segments.append(Segment(self, observations, rewards))

    def batch(self):
        observations = torch.cat([segment.observations for segment in self.segments])
        return observations, torch.cat([segment.returns() for segment in self.segments])
