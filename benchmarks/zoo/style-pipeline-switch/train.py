from studio import StatusBar, Studio

ORDERS = [("sketch", seed) for seed in range(4)] + [("photo", seed) for seed in range(9)]


def main(studio_class=Studio):
    bar = StatusBar()
    studio = studio_class(bar)
    for style, seed in ORDERS:
        picture = studio.draw(style, seed)
        if seed % 4 == 0:
            print(bar.show(style), f"brightness {picture.mean().item():.4f}")
    print(studio.drawn, "drawn")


if __name__ == "__main__":
    main()
