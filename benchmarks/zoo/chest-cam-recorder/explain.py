import torch
from recorder import ActivationRecorder
from torch.nn import functional


def principal_map(maps):
    """Share of each place in the maps' first principal direction (Eigen-CAM)."""
    flat = maps.flatten(2)
    flat = flat - flat.mean(2, keepdim=True)
    direction = flat.mean(1, keepdim=True)
    for _ in range(8):
        direction = functional.normalize(direction @ flat.transpose(1, 2) @ flat, dim=-1)
    return direction.abs().view(maps.size(0), *maps.shape[2:])


class Explainer:
    def __init__(self, network, layer, recorder):
        self.network, self.layer, self.recorder = network.eval(), layer, recorder

    @torch.no_grad()
    def __call__(self, films):
        with self.recorder.recording() as seen:
            scores = self.network(films).sigmoid()
        heat = principal_map(seen[self.layer])
        return scores, functional.interpolate(heat[:, None], films.shape[-2:], mode="bilinear").squeeze(1)


def explainer(network, layer="stage4"):
    return Explainer(network, layer, ActivationRecorder(network, type(network.get_submodule(layer))))
