"""Fingerprints of noise: two draws with the same first bytes came from the same seed."""


class Fingerprints:
    def __init__(self, length=32):
        self.length = length
        self.drawn = []

    def of(self, noise):
        return memoryview(noise.numpy()).cast("B")[: self.length]

    def repeated(self, noise):
        mark = self.of(noise)
        again = mark in self.drawn
        self.drawn.append(mark)
        return again
