from probes import ProbeRegistry
from train import main


class RemovingRegistry(ProbeRegistry):
    def clear(self):
        for _, handle in self.probes.values():
            handle.remove()
        super().clear()


if __name__ == "__main__":
    main(RemovingRegistry)
