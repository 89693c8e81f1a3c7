from index import VectorIndex
from train import main


class CompactIndex(VectorIndex):
    def add(self, vectors, labels):
        super().add(vectors.clone(), labels)


if __name__ == "__main__":
    main(CompactIndex)
