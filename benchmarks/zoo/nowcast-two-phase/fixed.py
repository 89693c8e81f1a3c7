"""Rain nowcast: fit a wide teacher, keep its answers, fit a narrow student on them."""

import torch

from nowcast.phases import StudentPhase, TeacherPhase
from nowcast.preempt_b import checkpoint_on_term
from nowcast.radar import RadarArchive


def main():
    torch.manual_seed(3)
    archive = RadarArchive(seed=40)
    targets = TeacherPhase(archive, checkpoint_on_term).run()
    StudentPhase(archive).run(targets)


if __name__ == "__main__":
    main()
