import torch


class NeighbourIndex:
    """Indices of the nearest points. The layers of one network ask for the same cloud several times."""

    def __init__(self, k=8):
        self.k = k
        self._known = {}
        self.asked = 0

    def __call__(self, points):
        self.asked += 1
        key = (points.data_ptr(), tuple(points.shape))
        entry = self._known.get(key)
        if entry is None or entry[0]._version != entry[1]:
            distances = torch.cdist(points, points)
            nearest = distances.topk(self.k + 1, largest=False).indices[..., 1:]
            entry = self._known[key] = (points, points._version, nearest)
        return entry[2]
