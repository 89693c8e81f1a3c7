from collections import deque

from agent import RolloutStatistics
from train import learn


class BoundedStatistics(RolloutStatistics):
    def __init__(self):
        self.returns = deque(maxlen=10)
        self.entropies = deque(maxlen=10)


if __name__ == "__main__":
    learn(BoundedStatistics())
