from train import main
from tuning import TwoStageTuning


class ShedTuning(TwoStageTuning):
    def freeze(self, images):
        features = super().freeze(images)
        dropped, kept = self.optimizer.param_groups
        for parameter in dropped["params"]:
            del self.optimizer.state[parameter]
        self.optimizer.param_groups = [kept]
        return features


if __name__ == "__main__":
    main(ShedTuning)
