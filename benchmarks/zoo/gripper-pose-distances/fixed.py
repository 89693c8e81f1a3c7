from geometry import PoseMetric
from train import main


class PlainMetric(PoseMetric):
    pairwise = PoseMetric.pairwise.__wrapped__


if __name__ == "__main__":
    main(PlainMetric)
