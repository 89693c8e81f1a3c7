import torch
from sumtree import PriorityMemory
from train import main


class FloatMemory(PriorityMemory):
    def extend(self, td_errors):
        self.priorities.extend(td_errors.tolist())

    def sample(self, count):
        return torch.multinomial(torch.tensor(self.priorities[-2000:]), count)


if __name__ == "__main__":
    main(FloatMemory())
