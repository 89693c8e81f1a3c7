import torch
from dreambooth import run

if __name__ == "__main__":
    torch.manual_seed(0)
    run()
