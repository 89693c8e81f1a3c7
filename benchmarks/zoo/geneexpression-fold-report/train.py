import torch
from cohort import Cohort
from report import Report
from runner import FoldRunner, Recipe


def main(report_class=Report):
    torch.manual_seed(31)
    cohort = Cohort()
    report = report_class("Outcome from expression")
    runner = FoldRunner(cohort, Recipe(), report)
    for fold in range(cohort.folds):
        runner.run(fold)
    print(*report.render(), sep="\n")


if __name__ == "__main__":
    main()
