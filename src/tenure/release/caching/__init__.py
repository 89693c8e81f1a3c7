"""Memory that nobody uses and somebody keeps: allocators, libraries, buffers."""
