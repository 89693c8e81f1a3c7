"""Descriptions of tapestries, as a weaver's catalogue has them."""

import itertools
import random

SUBJECTS = ("unicorn", "stag hunt", "siege", "harvest", "orchard", "millefleurs", "falconer", "ship at anchor")
STYLES = ("Flemish", "Gobelins", "Coptic", "Andean", "Beauvais", "Kilim")
MOODS = ("faded", "bright", "moonlit", "stormy", "gilded")


def catalogue(seed=171):
    entries = [f"{mood} {style} {subject}" for mood, style, subject in itertools.product(MOODS, STYLES, SUBJECTS)]
    random.Random(seed).shuffle(entries)
    return entries


def tokenize(prompt, length=20):
    """Letters as numbers, padded."""
    codes = [ord(letter) % 64 + 1 for letter in prompt.lower()][:length]
    return codes + [0] * (length - len(codes))
