from detector import Detector
from train import main


class CopyingDetector(Detector):
    def __call__(self, scene):
        place, heat = super().__call__(scene)
        return place, heat.clone()


if __name__ == "__main__":
    main(CopyingDetector)
