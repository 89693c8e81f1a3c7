"""Generates dance poses; a style judge helps while the poses are still stiff."""

import torch

from dance.callbacks import JudgeGuidance, Progress
from dance.studio import PoseGenerator, Studio


def main(guidance_class=JudgeGuidance, steps=44):
    torch.manual_seed(66)
    studio = Studio(PoseGenerator())
    studio.add(guidance_class(until=6))
    studio.add(Progress(every=11))
    studio.rehearse(steps)


if __name__ == "__main__":
    main()
