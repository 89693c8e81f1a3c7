import torch
from plants import PlantModel, photos
from schedule import Phase, PhasedTrainer

PHASES = [Phase("warm-up", 8, 0.02, True), Phase("head", 40, 0.05, False)]


def main(trainer=PhasedTrainer):
    torch.manual_seed(18)
    runner = trainer(PlantModel(), torch.nn.functional.cross_entropy)
    batches = photos()
    for phase in PHASES:
        runner.run(phase, batches)


if __name__ == "__main__":
    main()
