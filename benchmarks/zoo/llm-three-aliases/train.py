import torch
from finetune import Arguments, train
from modeling import TinyCausalLM

if __name__ == "__main__":
    torch.manual_seed(42)
    train(TinyCausalLM(), Arguments())
