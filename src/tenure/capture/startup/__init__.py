"""The folder that `tenure run` puts on PYTHONPATH; see sitecustomize.py."""
