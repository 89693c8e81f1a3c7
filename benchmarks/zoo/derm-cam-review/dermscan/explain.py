"""Class activation maps shown to the reviewing dermatologist."""

from dataclasses import dataclass, field

import torch
import torch.nn.functional as F


@dataclass
class CamRequest:
    images: torch.Tensor
    classes: torch.Tensor
    features: dict = field(default_factory=dict)

    @property
    def canvas(self):
        return self.images.shape[-2:]


class CamExplainer:
    def __init__(self, model, layers):
        self.model = model
        self.layers = tuple(layers)

    def _watch(self, request, name):
        def record(module, inputs, output):
            request.features[name] = output

        return record

    def explain(self, images, classes):
        request = CamRequest(images, classes)
        for name in self.layers:
            self.model.get_submodule(name).register_forward_hook(self._watch(request, name))
        was_training = self.model.training
        self.model.eval()
        scores = self.model(request.images).gather(1, request.classes[:, None]).sum()
        features = [request.features[name] for name in self.layers]
        grads = torch.autograd.grad(scores, features)
        self.model.train(was_training)
        maps = [self._project(f.detach(), g, request.canvas) for f, g in zip(features, grads)]
        return torch.stack(maps).mean(0)

    @staticmethod
    def _project(feature, grad, canvas):
        weight = grad.mean(dim=(2, 3), keepdim=True)
        cam = torch.relu((weight * feature).sum(1, keepdim=True))
        cam = F.interpolate(cam, size=canvas, mode="bilinear", align_corners=False)
        return cam / cam.amax(dim=(2, 3), keepdim=True).clamp_min(1e-6)
