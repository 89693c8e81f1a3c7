"""Builds what is native, in C, where a compiler is; without one the twins in Python serve."""

from setuptools import Extension, setup

setup(
    ext_modules=[
        Extension("tenure.capture.heap._heapwalk", ["src/tenure/capture/heap/_heapwalk.c"], optional=True),
        Extension("tenure.store._snapshot_columns", ["src/tenure/store/_snapshot_columns.c"], optional=True),
        Extension("tenure.allocator._simulator", ["src/tenure/allocator/_simulator.c"], optional=True),
        Extension("tenure.release.steps._plaincut", ["src/tenure/release/steps/_plaincut.c"], optional=True),
    ]
)
