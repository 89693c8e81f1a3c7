from memory import NodeMemory
from train import main


class DetachedMemory(NodeMemory):
    def write(self, source, target, time):
        super().write(source, target, time)
        self.state = self.state.detach()


if __name__ == "__main__":
    main(memory_class=DetachedMemory)
