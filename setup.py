"""Builds the heap walker in C where a compiler is; without one the plain-Python twin serves."""

from setuptools import Extension, setup

setup(
    ext_modules=[
        Extension("tenure.capture.heap._heapwalk", ["src/tenure/capture/heap/_heapwalk.c"], optional=True),
    ]
)
