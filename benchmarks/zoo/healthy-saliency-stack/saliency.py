import contextlib

import torch


class Looker:
    """Grad-CAM over several layers at once; everything it hangs on the net comes off again."""

    def __init__(self, net, layers):
        self.net, self.layers = net, layers
        self.shares = {}

    @contextlib.contextmanager
    def listening(self):
        forward, backward = {}, {}
        with contextlib.ExitStack() as stack:
            for name in self.layers:
                layer = self.net.get_submodule(name)
                stack.callback(layer.register_forward_hook(self.keep(forward, name)).remove)
                stack.callback(layer.register_full_backward_hook(self.keep(backward, name)).remove)
            yield forward, backward

    @staticmethod
    def keep(into, name):
        def hook(layer, args, result):
            into[name] = (result[0] if isinstance(result, tuple) else result).detach()

        return hook

    def look(self, images):
        """Which part of the picture carries the best class, for every layer."""
        with self.listening() as (forward, backward):
            self.net(images.clone().requires_grad_()).amax(1).sum().backward()
            for name in self.layers:
                weights = backward[name].mean((2, 3), keepdim=True)
                heat = (weights * forward[name]).sum(1).relu()
                self.shares[name] = (heat > heat.mean((1, 2), keepdim=True)).float().mean().item()
        self.net.zero_grad()
        return self.shares


def watching(looker, every=2):
    """Decorates a training step: after every second one the looker has a look at the same images."""

    def decorate(step):
        def run(images, labels):
            run.calls += 1
            loss = step(images, labels)
            if run.calls % every == 0:
                looker.look(images)
            return loss

        run.calls = 0
        return run

    return decorate


def describe(shares):
    return " ".join(f"{name}={share:.3f}" for name, share in shares.items())


def seeded(seed):
    return torch.Generator().manual_seed(seed)
