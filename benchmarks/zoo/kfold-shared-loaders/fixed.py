import weakref

from loader import PreparedLoader
from state import GradientState
from train import main


class WeakGradientState(GradientState):
    def add_loader(self, loader):
        self.active = weakref.proxy(loader)
        self.loaders.append(weakref.ref(loader))


if __name__ == "__main__":
    PreparedLoader.state_type = WeakGradientState
    main()
