class GradientState:
    """Shared by everything in the process: every instance sees the same loaders and the same flags."""

    _shared = {}

    def __init__(self):
        self.__dict__ = self._shared
        if not self._shared:
            self.loaders = []
            self.sync_gradients = True

    def add_loader(self, loader):
        self.active = loader
        self.loaders.append(loader)

    @property
    def remainder(self):
        return self.active.remainder
