import torch
from objective import Objective
from study import Study


def main(objective, trials=31):
    torch.manual_seed(12)
    study = Study({"lr": (0.001, 0.05), "decay": (0.0, 0.5)})
    for _ in range(trials):
        trial = study.ask()
        study.tell(trial, objective(trial))
        if trial.number % 10 == 0:
            print(trial.number, {name: round(value, 4) for name, value in trial.params.items()}, round(trial.value, 4))
    print("best", study.best.number)


if __name__ == "__main__":
    main(Objective())
