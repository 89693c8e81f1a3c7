import torch

from margins import MarginBook
from train import main


class CopyingBook(MarginBook):
    @torch.no_grad()
    def note(self, scores, genre):
        margins = scores.sub(scores.diagonal()[:, None]).sort(dim=1, descending=True).values
        self.by_genre[int(genre[0])].append(margins[0, : self.best].clone())


if __name__ == "__main__":
    main(CopyingBook)
