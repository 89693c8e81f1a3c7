CELLS = [
    """
import gc
import torch
from segmenter import Segmenter, fit, scenes
torch.manual_seed(0)
""",
    """
fit(Segmenter(width=48), scenes(seed=1), steps=30, budget=8)
""",
    """
gc.collect()
model = Segmenter(width=16)
""",
    """
fit(model, scenes(seed=2), steps=30)
""",
]
