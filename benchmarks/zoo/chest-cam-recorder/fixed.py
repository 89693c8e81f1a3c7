from explain import Explainer
from recorder import ActivationRecorder
from train import main


class NarrowRecorder(ActivationRecorder):
    """Only the one layer that is looked at, and only until it was."""

    def __init__(self, network, layer):
        super().__init__(network.get_submodule(layer), type(network.get_submodule(layer)))
        self.layer = layer

    def __getitem__(self, name):
        return self.last.pop("")


def narrow_explainer(network, layer="stage4"):
    return Explainer(network, layer, NarrowRecorder(network, layer))


if __name__ == "__main__":
    main(narrow_explainer)
