from desk.pipeline import QuotePipeline
from train import main


class ShortPipeline(QuotePipeline):
    def prepare(self, context):
        features = super().prepare(context)
        context.window = None
        return features


if __name__ == "__main__":
    main(ShortPipeline)
