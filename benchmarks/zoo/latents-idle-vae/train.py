import torch
from components import Components
from recipe import Recipe

if __name__ == "__main__":
    torch.manual_seed(5)
    images = torch.rand(48, 3, 32, 32)
    Recipe(Components.load()).run(images)
