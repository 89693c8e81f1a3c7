import torch

_PREVIEWS = {}


def remember_preview(step, images):
    _PREVIEWS[step] = images.clamp(-1, 1)


def contact_sheet():
    first, last = min(_PREVIEWS), max(_PREVIEWS)
    return torch.cat([_PREVIEWS[first], _PREVIEWS[last]])
