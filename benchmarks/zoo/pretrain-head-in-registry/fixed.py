import torch
from components import encoder
from registry import MODULES
from train import finetune, pretrain


def main():
    torch.manual_seed(0)
    body = encoder()
    print("pretraining", pretrain(body, 8))
    MODULES.pop("reconstruction_head")
    print("fine-tuning", finetune(body, 40))


if __name__ == "__main__":
    main()
