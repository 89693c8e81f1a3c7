import torch
from dynamics import ACTION
from torch.func import functional_call


class Planner:
    """Random-shooting MPC over learned dynamics, whose weights are jittered to see how sure a plan is."""

    def __init__(self, dynamics, candidates=24, horizon=4, jitter=0.01):
        self.dynamics = dynamics
        self.theta = {name: weight.detach() for name, weight in dynamics.named_parameters()}
        self.candidates, self.horizon, self.jitter = candidates, horizon, jitter
        self.low, self.high = -torch.ones(ACTION), torch.ones(ACTION)

    def shaken(self):
        noise = {name: weight.std() * torch.randn_like(weight) for name, weight in self.theta.items()}
        return {name: weight + self.jitter * noise[name] for name, weight in self.theta.items()}

    @torch.no_grad()
    def plan(self, states):
        """The best first action for every state."""
        theta = self.shaken()
        plans = torch.rand(self.horizon, len(states), self.candidates, ACTION) * 2 - 1
        now = states[:, None].expand(-1, self.candidates, -1)
        cost = torch.zeros(len(states), self.candidates)
        for actions in plans:
            now = functional_call(self.dynamics, theta, (now, actions))
            cost += now.square().sum(-1) + 0.05 * actions.square().sum(-1)
        return plans[0, torch.arange(len(states)), cost.argmin(1)]

    def clip(self, action):
        return action.clamp(self.low, self.high)

    def shelve(self):
        """Planning is over; what is left is the range of the actions."""
        self.dynamics.to("meta")
