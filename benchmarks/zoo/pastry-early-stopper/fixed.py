import torch
from train import main, validate

if __name__ == "__main__":
    main(torch.no_grad()(validate))
