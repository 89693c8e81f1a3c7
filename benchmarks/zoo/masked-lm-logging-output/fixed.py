from criterion import MaskedLmCriterion
from train import main


class DetachingCriterion(MaskedLmCriterion):
    def logging_output(self, loss, scores, sample):
        return super().logging_output(loss, scores.detach(), sample)


if __name__ == "__main__":
    main(DetachingCriterion())
