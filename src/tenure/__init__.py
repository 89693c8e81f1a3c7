"""Tenure: what keeps PyTorch memory alive, which line to change, and proof that the change helped."""

__version__ = "0.1.0"
