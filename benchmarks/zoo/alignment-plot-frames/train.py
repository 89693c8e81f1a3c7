"""Trains a small speech reader and draws how it aligns letters with frames as it learns."""

import torch

from reader.figures import AlignmentFilm
from reader.speech import Sentences, SpeechReader
from reader.training import train


def main(film_class=AlignmentFilm):
    torch.manual_seed(17)
    model = SpeechReader()
    sentences = Sentences()
    film = film_class(model, sentences.draw(2))
    train(model, sentences, [film], steps=40)
    print(f"{len(film.frames)} frames, sharpest {film.sharpest():.3f}")


if __name__ == "__main__":
    main()
