import numpy as np

from rockart.panels import Panels
from train import main


class PlainPanels(Panels):
    def crop_at(self, index, top, left):
        window = self.decode(index)[top : top + self.crop, left : left + self.crop]
        return (window / 255.0).astype(np.float64)


if __name__ == "__main__":
    main(PlainPanels)
