from edm import SigmaPlanes
from train import main


class FreshPlanes(SigmaPlanes):
    def plane(self, sigma):
        return self.build(sigma)


if __name__ == "__main__":
    main(FreshPlanes)
