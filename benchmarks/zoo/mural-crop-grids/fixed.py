from grids import GridTable
from train import main


class SmallTable(GridTable):
    def __missing__(self, size):
        if len(self) >= 6:
            del self[next(iter(self))]
        return super().__missing__(size)


if __name__ == "__main__":
    main(SmallTable)
