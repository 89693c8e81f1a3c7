"""Builds the heap walker and the cut of a step in C where a compiler is; without one their twins in Python serve."""

from setuptools import Extension, setup

setup(
    ext_modules=[
        Extension("tenure.capture.heap._heapwalk", ["src/tenure/capture/heap/_heapwalk.c"], optional=True),
        Extension("tenure.release.steps._plaincut", ["src/tenure/release/steps/_plaincut.c"], optional=True),
    ]
)
