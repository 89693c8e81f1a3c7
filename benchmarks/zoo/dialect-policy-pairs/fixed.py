from dialect.pairs import log_probability
from dialect.tuning import PreferenceTuner
from train import main


class ShortTuner(PreferenceTuner):
    def margin_of(self, pairs):
        reference_score = log_probability(self.judge(pairs)["logits"], pairs)
        policy = self.answer(pairs)
        return log_probability(policy["logits"], pairs) - reference_score


if __name__ == "__main__":
    main(ShortTuner)
