"""What a program would need on a device, from two of its steps recorded anywhere."""
