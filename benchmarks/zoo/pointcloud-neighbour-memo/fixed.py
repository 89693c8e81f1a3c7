from neighbours import NeighbourIndex
from train import main


class LastCloudIndex(NeighbourIndex):
    def __call__(self, points):
        if (points.data_ptr(), tuple(points.shape)) not in self._known:
            self._known.clear()
        return super().__call__(points)


if __name__ == "__main__":
    main(LastCloudIndex)
