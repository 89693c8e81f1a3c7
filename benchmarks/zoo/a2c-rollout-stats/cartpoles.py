import torch


class CartPoles:
    """Many simplified cart poles stepped together."""

    def __init__(self, number=512, seed=0):
        self.generator = torch.Generator().manual_seed(seed)
        self.number = number
        self.state = self.fresh()

    def fresh(self):
        return torch.rand(self.number, 4, generator=self.generator) * 0.1 - 0.05

    def step(self, action, dt=0.02):
        x, v, angle, spin = self.state.unbind(1)
        force = action.float() * 20 - 10
        spin = spin + dt * (9.8 * angle.sin() - force * angle.cos() * 0.9) * 1.4
        v = v + dt * force
        self.state = torch.stack([x + dt * v, v, angle + dt * spin, spin], 1)
        done = (self.state[:, 2].abs() > 0.2) | (self.state[:, 0].abs() > 2.4)
        self.state = torch.where(done[:, None], self.fresh(), self.state)
        return self.state, 1.0 - done.float(), done
