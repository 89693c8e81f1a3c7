"""Direct preference tuning of a small dialect model against its frozen copy."""

from dialect.tuning import PreferenceTuner


def main(tuner_class=PreferenceTuner, steps=32):
    tuner = tuner_class(seed=3)
    for step in range(1, steps + 1):
        report = tuner.step()
        if step % 8 == 0:
            print(f"step {step}: loss {report['loss']:.4f}, margin {report['margin']:+.4f}")


if __name__ == "__main__":
    main()
