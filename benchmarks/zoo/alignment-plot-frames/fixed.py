import torch
from reader.figures import AlignmentFilm
from train import main


class QuietFilm(AlignmentFilm):
    @torch.no_grad()
    def shoot(self, step):
        super().shoot(step)


if __name__ == "__main__":
    main(QuietFilm)
