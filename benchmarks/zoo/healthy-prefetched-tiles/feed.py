from collections import deque


class TileFeed:
    """Prepares tiles ahead of the training; each prepared batch is handed out once."""

    def __init__(self, scenes, prepare, ahead=2):
        self.scenes, self.prepare, self.ahead = scenes, prepare, ahead
        self.upcoming = deque()

    def fill(self):
        while len(self.upcoming) < self.ahead:
            scene = next(self.scenes, None)
            if scene is None:
                return
            self.upcoming.append(self.prepare(scene))

    def __iter__(self):
        return self

    def __next__(self):
        if not self.upcoming:
            self.fill()
        if not self.upcoming:
            raise StopIteration
        batch = self.upcoming.popleft()
        self.fill()
        return batch


def tiles(scene, size=48):
    """Reflectances of a scene cut to tiles, and each tile's share of cloud."""
    counts, cloud = scene
    values = counts.float().div_(10000).unfold(1, size, size).unfold(2, size, size)
    values = values.permute(1, 2, 0, 3, 4).flatten(0, 1).contiguous()
    share = cloud.float().unfold(0, size, size).unfold(1, size, size).mean((2, 3)).flatten()
    return values, share
