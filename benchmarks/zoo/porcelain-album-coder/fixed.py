from glaze.stages import Encoding
from train import main


class EncodingOnce(Encoding):
    def __call__(self, pipeline, album):
        super().__call__(pipeline, album)
        pipeline.components["coder"] = None


if __name__ == "__main__":
    main(EncodingOnce)
