from dataclasses import dataclass, field


@dataclass
class Episode:
    number: int
    frames: list = field(default_factory=list)
    reward: float = 0.0


class EpisodeRecorder:
    """Keeps what the camera saw, for the video of the best episode."""

    def __init__(self):
        self.episodes = []

    def begin(self, number):
        self.episodes.append(Episode(number))

    def frame(self, picture, reward):
        episode = self.episodes[-1]
        episode.frames.append(picture.mul(255).byte().numpy().tobytes())
        episode.reward += reward

    def best(self):
        return max(self.episodes, key=lambda episode: episode.reward)
