import torch
from encoder import PatchEncoder, Pooling
from index import Indexer, VectorIndex


def photographs(batches=40, batch=6, size=64, seed=43):
    generator = torch.Generator().manual_seed(seed)
    for number in range(batches):
        yield torch.randn(batch, 3, size, size, generator=generator), [f"{number}/{i}" for i in range(batch)]


def main(index_class=VectorIndex):
    torch.manual_seed(44)
    indexer = Indexer(PatchEncoder(), Pooling(), index_class())
    for number, (images, labels) in enumerate(photographs(), 1):
        indexer.take(images, labels)
        if number % 10 == 0:
            print(number, len(indexer.index))
    query = torch.randn(64, generator=torch.Generator().manual_seed(1))
    print("nearest", indexer.index.search(query)[1])


if __name__ == "__main__":
    main()
