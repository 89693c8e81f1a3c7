"""A student that listens to a teacher."""

import torch


class Record:
    """What was heard in the last forward."""

    def __init__(self):
        self.listening = True
        self.gap = None


def listener(teacher, record):
    """A forward hook that compares the student's answer with the teacher's."""

    def listen(student, given, answer):
        if not record.listening:
            return
        with torch.no_grad():
            wanted = teacher(*given)
        record.gap = (answer - wanted).square().mean()

    return listen


class FeatureGuide:
    def __init__(self, student, teacher):
        self.teacher = teacher
        self.record = Record()
        self.handle = student.register_forward_hook(listener(teacher, self.record))

    def gap(self):
        gap, self.record.gap = self.record.gap, None
        return 0.0 if gap is None else gap

    def close(self):
        self.record.listening = False
        del self.teacher
