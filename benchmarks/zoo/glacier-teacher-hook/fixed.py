from glacier.distil import FeatureGuide
from train import main


class TidyGuide(FeatureGuide):
    def close(self):
        super().close()
        self.handle.remove()


if __name__ == "__main__":
    main(TidyGuide)
