from dataclasses import dataclass, fields

import torch


@dataclass
class InstanceOutput:
    class_queries_logits: torch.Tensor
    masks_queries_logits: torch.Tensor
    upsampled_masks: torch.Tensor
    pixel_features: torch.Tensor

    def shapes(self):
        return {field.name: tuple(getattr(self, field.name).shape) for field in fields(self)}
