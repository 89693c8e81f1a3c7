import torch
from encoder import pretrained
from gallery import Gallery


def scans(count, batch=8, side=96):
    generator = torch.Generator().manual_seed(50)
    for number in range(count):
        sheets = torch.rand(batch, 3, side, side, generator=generator)
        sheets[:, 1] *= torch.rand(batch, 1, 1, generator=generator)
        yield [f"box{number:02d}/{sheet}" for sheet in range(batch)], sheets


def main(gallery=Gallery, boxes=40):
    index = gallery(pretrained())
    for names, sheets in scans(boxes):
        size = index.extend(names, sheets)
        if size % 80 == 0:
            print(size, "sheets,", len(index.shards), "shards")
    query = torch.nn.functional.normalize(torch.ones(64), dim=0)
    for score, name in index.find(query):
        print(f"{name} {score:.4f}")


if __name__ == "__main__":
    main()
