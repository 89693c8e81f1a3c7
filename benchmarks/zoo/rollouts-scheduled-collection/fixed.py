import weakref

from episodes import Episode, Segment
from train import main


class TreeEpisode(Episode):
    def add(self, observations, rewards):
        self.segments.append(Segment(weakref.proxy(self), observations, rewards))


if __name__ == "__main__":
    main(TreeEpisode)
