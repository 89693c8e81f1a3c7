from splines.kernel_b import SavedSplineKernel
from splines.layers import ProfileNet
from train import main


class LeanProfileNet(ProfileNet):
    kernel = SavedSplineKernel


if __name__ == "__main__":
    main(LeanProfileNet)
