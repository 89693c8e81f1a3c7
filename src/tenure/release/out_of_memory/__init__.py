"""When memory runs out, and how large a batch may be before it does."""
