# %% the archive and the model
import torch
from archive import RadarArchive
from fitting import Fitter
from nowcast import ConvNowcast

torch.manual_seed(11)
model = ConvNowcast()
fitter = Fitter(model, lr=2e-3)
archive = RadarArchive(seed=4)

# %% first try, all stations
fitter.fit(archive.sequences(batch=10, limit=32))

# %% that stopped at an hour with a missing sweep, so skip those
print("until then", len(fitter.curve), "steps")
fitter.fit(archive.sequences(batch=10, limit=40, complete_only=True))

# %% how well does it go
curve = torch.tensor(fitter.curve)
print("steps", len(curve), "first", round(curve[:8].mean().item(), 4), "last", round(curve[-8:].mean().item(), 4))
