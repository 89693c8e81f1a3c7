from collections import deque

from bus import EventBus
from train import main


class ShortMemoryBus(EventBus):
    def __init__(self):
        super().__init__()
        self._published = deque(maxlen=4)


if __name__ == "__main__":
    main(ShortMemoryBus)
