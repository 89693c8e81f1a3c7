from .denoise import Preconditioned
from .fourier import SigmaPlanes
from .loop import Loop

__all__ = ["Loop", "Preconditioned", "SigmaPlanes"]
