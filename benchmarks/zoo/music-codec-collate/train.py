import torch
from composer import Composer, fit
from tunes import Tunes, token_loader


def main(after_epoch=None):
    torch.manual_seed(13)
    loader = token_loader(Tunes(), batch_size=8)
    composer = Composer()
    fit(composer, torch.optim.Adam(composer.parameters(), lr=4e-3), loader, epochs=6, after_epoch=after_epoch)
    print(len(loader.tokens), "clips")


if __name__ == "__main__":
    main()
