import torch
from cache import SinkWindow
from composer import Composer, improvise


def main(players=16, notes=89):
    torch.manual_seed(41)
    composer = Composer().eval()
    cache = SinkWindow(composer.depth, players, composer.heads, composer.width // composer.heads)
    theme = torch.randint(130, (players, 64))
    melodies = [[] for _ in range(players)]
    for column in improvise(composer, cache, theme, notes):
        for melody, note in zip(melodies, column):
            melody.append(note)
    for melody in melodies:
        print(*melody[-16:])


if __name__ == "__main__":
    main()
