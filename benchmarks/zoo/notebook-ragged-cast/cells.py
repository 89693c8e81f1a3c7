CELLS = [
    """\
import torch
from fitting import error, fit
from ocean import casts, profiler
torch.manual_seed(61)
ship = casts()
""",
    """\
net = profiler()
print("parameters", sum(p.numel() for p in net.parameters()))
""",
    """\
losses = fit(net, ship)
print("wide", losses[-1])
""",
    """\
whole = [cast for cast in ship if cast[0].shape[1] == 120]
net = profiler(width=96)
""",
    """\
losses = fit(net, whole, epochs=5, lr=3e-3)
print("narrow", losses[0], losses[-1])
""",
    """\
print("mean error", error(net, whole))
""",
]
