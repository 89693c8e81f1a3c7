from train import main
from whitening import RunningWhitener


class DetachedWhitener(RunningWhitener):
    def track(self, z):
        super().track(z.detach())


if __name__ == "__main__":
    main(DetachedWhitener)
