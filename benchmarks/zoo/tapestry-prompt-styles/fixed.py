from conditioning import Conditioner
from train import main


class RecentConditioner(Conditioner):
    def __call__(self, prompts):
        text = super().__call__(prompts)
        self.encoded = dict(list(self.encoded.items())[-20:])
        return text


if __name__ == "__main__":
    main(RecentConditioner)
