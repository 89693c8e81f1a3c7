import torch
from recorder import log


class WeightsCollapsed(ArithmeticError):
    pass


def action(field, mass=-1.0, coupling=1.0):
    bonds = sum(field * field.roll(1, axis) for axis in (1, 2))
    return ((4 + mass) * field.square() + coupling * field**4 - 2 * bonds).sum((1, 2)) / 2


def resample(fields, log_weights, least, generator):
    weights = log_weights.softmax(0)
    sharpness = 1 / weights.square().sum() / len(weights)
    if sharpness < least:
        raise WeightsCollapsed(f"effective part {sharpness:.3f} of {len(fields)} fields")
    return fields[torch.multinomial(weights, len(fields), replacement=True, generator=generator)]


class Ensemble:
    """The lattice fields that measurements are made on, renewed whenever the flow's are good enough."""

    def __init__(self, least=0.03, seed=101):
        self.least = least
        self.generator = torch.Generator().manual_seed(seed)
        self.fields = None
        self.renewed = self.refused = 0

    def renew(self, fields, log_density):
        log_weights = -action(fields) - log_density
        try:
            self.fields = resample(fields, log_weights, self.least, self.generator)
            self.renewed += 1
        except WeightsCollapsed:
            self.refused += 1
            log.debug("kept the old ensemble", exc_info=True)

    def magnetisation(self):
        return float("nan") if self.fields is None else self.fields.mean((1, 2)).abs().mean().item()
