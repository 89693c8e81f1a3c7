"""Modules off a device, for good or for the length of a block."""
