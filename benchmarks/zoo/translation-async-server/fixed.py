import torch
from service import TranslationService
from train import main


class QuietService(TranslationService):
    @torch.no_grad()
    def answer(self, tokens):
        return super().answer(tokens)


if __name__ == "__main__":
    main(QuietService)
