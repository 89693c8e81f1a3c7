"""Checks that a frozen network leaves a phase just as it came into it."""


class FrozenGuard:
    def __init__(self):
        self._before = {}

    def enter(self, name, module):
        module.eval().requires_grad_(False)
        sums = {key: value.double().sum().item() for key, value in module.state_dict().items()}
        self._before[name] = (module.state_dict(), sums)

    def verify(self, name, module):
        state, sums = self._before[name]
        for key, value in module.state_dict().items():
            same_place = value.data_ptr() == state[key].data_ptr()
            if not same_place or value.double().sum().item() != sums[key]:
                raise RuntimeError(f"{name}.{key} was changed in a phase that reads it only")
