from forecast import Decomposed
from train import main


class Noted(Decomposed):
    def note(self, parts):
        # its root mean square stands for the component, which is all that the report asks for
        super().note([part.detach().square().mean().sqrt() for part in parts])


if __name__ == "__main__":
    main(Noted)
