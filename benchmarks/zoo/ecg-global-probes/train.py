import torch
from heart import RhythmNet, recordings
from runner import Plan, Runner


def main(runner_type=Runner):
    torch.manual_seed(12)
    plan = Plan()
    runner = runner_type(RhythmNet(), plan)
    train, held_out = recordings(plan.steps * plan.batch), recordings(2 * plan.batch, seed=13)
    for epoch, figures in runner.run(train, held_out):
        print(epoch, " ".join(f"{name}={value:.3f}" for name, value in figures.items()))


if __name__ == "__main__":
    main()
