from plates.cascade import Cascade
from train import main


class LeanCascade(Cascade):
    def locate(self, plates):
        sources = super().locate(plates)
        self.scratch.fields = None
        return sources


if __name__ == "__main__":
    main(LeanCascade)
