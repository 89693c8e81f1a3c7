from collections import OrderedDict


class Recent:
    """The values of the keys asked for last, `room` of them."""

    def __init__(self, make, room):
        self.make, self.room = make, room
        self.values = OrderedDict()
        self.hits = 0

    def __getitem__(self, key):
        if key in self.values:
            self.hits += 1
            self.values.move_to_end(key)
        else:
            self.values[key] = self.make(key)
            while len(self.values) > self.room:
                self.values.popitem(last=False)
        return self.values[key]
