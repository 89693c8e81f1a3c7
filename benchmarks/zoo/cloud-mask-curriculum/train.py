import torch

from clouds.school import School


def tiles(count, batch=16, size=32, seed=55):
    gen = torch.Generator().manual_seed(seed)
    for _ in range(count):
        field = torch.nn.functional.avg_pool2d(torch.randn(batch, 1, size + 8, size + 8, generator=gen), 9, 1)
        masks = (field > 0.05).float()
        yield masks * 0.7 + 0.3 * torch.randn(batch, 4, size, size, generator=gen), masks


def main(advance=None, steps=40):
    torch.manual_seed(54)
    school = School()
    if advance is not None:
        school.advance = advance
    for number, (picture, masks) in enumerate(tiles(steps)):
        loss = school.lesson(number, picture, masks)
    print(f"last loss {loss:.4f} in stage {school.stage.value}")


if __name__ == "__main__":
    main()
