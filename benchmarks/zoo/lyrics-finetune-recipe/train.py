import torch
from recipe import FullFinetune, Settings
from verses import verses


def main(recipe=FullFinetune):
    torch.manual_seed(0)
    cfg = Settings()
    recipe(cfg).run(verses(cfg))


if __name__ == "__main__":
    main()
