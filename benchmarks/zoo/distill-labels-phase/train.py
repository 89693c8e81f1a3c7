from nets import load_teacher, perceptron, spectra
from phases import PhasedTrainer


def main(trainer_class=PhasedTrainer):
    trainer_class(perceptron(64, seed=2), load_teacher).run(spectra())


if __name__ == "__main__":
    main()
