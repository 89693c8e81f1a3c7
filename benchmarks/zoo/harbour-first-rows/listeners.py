"""Things that listen to the loop."""


class Listener:
    def epoch_begins(self, epoch): ...

    def batch_done(self, inputs, outputs, loss): ...

    def epoch_ends(self, epoch): ...


class LossPrinter(Listener):
    def epoch_begins(self, epoch):
        self.losses = []

    def batch_done(self, inputs, outputs, loss):
        self.losses.append(loss)

    def epoch_ends(self, epoch):
        print(f"epoch {epoch} loss {sum(self.losses) / len(self.losses):.5f}")


class ContactSheet(Listener):
    """A strip of small before-and-after pictures for each epoch, in letters."""

    SHADES = " .:-=+*#%@"

    def __init__(self, rows=2, columns=24):
        self.corner = (0, slice(rows), slice(columns))
        self.strip = []

    def crop(self, batch):
        return batch[self.corner]

    def batch_done(self, inputs, outputs, loss):
        self.strip += [tuple(self.crop(picture) for picture in (inputs, outputs))]

    def line(self, rows):
        return "".join(self.SHADES[min(9, max(0, int(value * 9)))] for value in rows.mean(0).tolist())

    def epoch_ends(self, epoch):
        before, after = self.strip[-1]
        print(f"in  |{self.line(before)}|\nout |{self.line(after)}| of {len(self.strip)}")
        self.strip.clear()
