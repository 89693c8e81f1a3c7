import torch
from modelling import CodeModel, SourceFiles
from train_utils import Schedule, train

CONFIG = {"num_steps": 40, "report_interval": 10, "clip": 1.0}


def main(train=train):
    torch.manual_seed(132)
    model = CodeModel()
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
    train(CONFIG, model, SourceFiles(), optimizer, Schedule(optimizer))


if __name__ == "__main__":
    main()
