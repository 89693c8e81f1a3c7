import torch


class ReferenceAttribution:
    """Difference-from-reference scores: runs sequences and a reference in one batch, with hooks on the activations."""

    def __init__(self, model, kinds=(torch.nn.ReLU, torch.nn.Conv1d)):
        self.model = model
        self.kinds = kinds
        self.handles = []

    def __enter__(self):
        for layer in self.model.modules():
            if isinstance(layer, self.kinds):
                self.handles.append(layer.register_forward_hook(self.remember))
        return self

    def __exit__(self, *failure):
        while self.handles:
            self.handles.pop().remove()

    @staticmethod
    def remember(layer, args, output):
        layer.seen_input = args[0].detach()
        layer.seen_output = output.detach()

    @torch.no_grad()
    def score(self, sequences):
        both = torch.cat([sequences, torch.full_like(sequences, 0.25)])
        self.model(both)
        first = next(layer for layer in self.model.modules() if isinstance(layer, torch.nn.ReLU))
        seen, reference = first.seen_output.chunk(2)
        return (seen - reference).abs().mean((0, 2))
