from module import PoseModule
from train import main


class ClearingPoseModule(PoseModule):
    def on_validation_epoch_end(self, log):
        super().on_validation_epoch_end(log)
        self.my_scores.clear()


if __name__ == "__main__":
    main(ClearingPoseModule)
