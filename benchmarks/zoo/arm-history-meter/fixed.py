import torch
from control import Controller
from train import main


class CountingController(Controller):
    def size(self):
        return sum(tensor.numel() for tensor in self.history.tensors())

    def act(self, states):
        before = self.size()
        with torch.inference_mode():
            torque = self.policy(states, self.history)
        self.meter.sizes.append(self.size() - before)
        return torque


if __name__ == "__main__":
    main(CountingController)
