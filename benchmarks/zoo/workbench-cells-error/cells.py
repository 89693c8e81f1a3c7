CELLS = [
    """
import torch
from wine import fit, spectra, WineNet
torch.manual_seed(1)
x, y = spectra()
""",
    """
from explore import second_order, band_table
print("bands", band_table(x[:40]))
""",
    """
print("pairs", second_order(x, [3, 9, 41]))
""",
    """
net = WineNet()
""",
    """
for epoch in range(5):
    print("epoch", epoch, round(fit(net, x, y), 4))
""",
]
