"""Builds what is native, in C, where a compiler is; without one the twins in Python serve.

The guard of `tenure fix` has no twin: it is a library of Linux, which Python never imports.
"""

import sys
from pathlib import Path

from setuptools import Extension, setup


def native(room: str, name: str) -> Extension:
    """An extension module of a room, whose parts lie in the folder `c` beside it."""
    folder = Path("src/tenure", room)
    module = f"tenure.{room.replace('/', '.')}.{name}"
    parts = sorted(str(part) for part in folder.glob("c/*.h"))
    libraries = ["dl"] if name == "_guard" else []
    return Extension(module, [str(folder / f"{name}.c")], depends=parts, libraries=libraries, optional=True)


setup(
    ext_modules=[
        native("capture/heap", "_heapwalk"),
        native("store", "_snapshot_columns"),
        native("allocator", "_simulator"),
        native("release/steps", "_plaincut"),
        *([native("fixing", "_guard")] if sys.platform == "linux" else []),
    ]
)
