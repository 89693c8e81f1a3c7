import torch


class Track:
    all_tracks = []

    def __init__(self, descriptor):
        self.descriptor = descriptor
        self.age = 0
        Track.all_tracks.append(self)

    def similarity(self, other):
        return torch.cosine_similarity(self.descriptor, other, dim=0)


class Tracker:
    def __init__(self, keep=5):
        self.keep = keep
        self.active = []

    def update(self, descriptors):
        for descriptor in descriptors:
            self.active.append(self.start(descriptor))
        for track in self.active:
            track.age += 1
        self.active = [track for track in self.active if track.age <= self.keep]
        return len(self.active)

    def start(self, descriptor):
        return Track(descriptor.clone())
