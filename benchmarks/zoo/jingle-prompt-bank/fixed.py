from prompts import PromptBank
from train import main


class VectorBank(PromptBank):
    def __init__(self, encoder, prompts):
        super().__init__(encoder, prompts)
        del self.encoder


if __name__ == "__main__":
    main(VectorBank)
