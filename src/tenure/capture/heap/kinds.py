"""What the heap walk and a census make of an object's type."""

from __future__ import annotations

import sys
import types
from typing import Any

import torch

from tenure.capture.guarding.classes import module_of
from tenure.capture.heap import autograd
from tenure.capture.heap.checkpoints import is_checkpoint
from tenure.capture.heap.descriptions import module_file
from tenure.capture.heap.foreign_memory import is_foreign
from tenure.capture.heap.heapwalk import Category
from tenure.capture.heap.origins import is_own_file
from tenure.model.heap import NodeKind


def category_of(cls: type) -> int:
    """The walk's view of a type; asked once per type."""
    if issubclass(cls, (torch._C.TensorBase, torch._C.StorageBase)) or autograd.is_autograd_type(cls):
        return Category.TARGET
    if issubclass(cls, (type, types.ModuleType)):
        return Category.ROOT
    if is_foreign(cls) or is_checkpoint(cls):
        return Category.TARGET
    module = module_of(cls)
    if module.partition(".")[0] == "tenure" and is_own_file(module_file(module)):
        return Category.IGNORE
    numpy = sys.modules.get("numpy")
    if numpy is not None and issubclass(cls, numpy.ndarray):
        return Category.ARRAY
    return Category.NORMAL


def kind_of(cls: type) -> NodeKind:
    """The kind of node that an instance of `cls` is, where nothing else is known of it."""
    if issubclass(cls, torch._C.TensorBase):
        return NodeKind.TENSOR
    if issubclass(cls, type):
        return NodeKind.CLASS
    if issubclass(cls, types.ModuleType):
        return NodeKind.HIDDEN
    if autograd.is_autograd_type(cls):
        return NodeKind.AUTOGRAD
    return NodeKind.OBJECT


def is_parameter(tensor: object) -> bool:
    """Whether a tensor is an `nn.Parameter`, or a subclass that says it is one."""
    return issubclass(type(tensor), torch.nn.Parameter) or getattr(tensor, "_is_param", False) is True


def is_array(item: object) -> bool:
    """Whether an object is a NumPy array; imports nothing."""
    numpy = sys.modules.get("numpy")
    return numpy is not None and issubclass(type(item), numpy.ndarray)


def array_contents(item: Any) -> list[object] | int:
    """What an object array holds, what a view is a view of, and of an array of numbers the bytes that are its own."""
    if item.dtype.kind == "O":
        found: list[object] = item.ravel().tolist()
        return found
    array_type = sys.modules["numpy"].ndarray
    base = array_type.base.__get__(item)
    return [base] if base is not None else int(array_type.nbytes.__get__(item))
