import torch
from data import utterances
from model import SpeechModel
from trainer import Trainer, TrainerOptions


def main():
    torch.manual_seed(1)
    model = SpeechModel()
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    reporter = Trainer.run(model, optimizer, utterances(), TrainerOptions())
    print("done", reporter.log_message())


if __name__ == "__main__":
    main()
