import torch
from trainer import Trainer

if __name__ == "__main__":
    torch.manual_seed(0)
    Trainer().run()
