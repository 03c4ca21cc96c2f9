"""List the automatic metrics, in the order of their columns. CONTRIBUTING.md says how to add one."""

from generation.metrics.bleu import BleuMetric
from generation.metrics.distinct import DistinctMetric
from generation.metrics.emotion_accuracy import EmotionAccuracyMetric
from generation.metrics.label_accuracy import LabelAccuracyMetric
from generation.metrics.metric import Metric
from generation.metrics.perplexity import PerplexityMetric, ToldPerplexityMetric
from generation.metrics.reply_ranking import ReplyRankingMetric
from generation.metrics.similarity import SimilarityMetric

METRICS: list[Metric] = [
    PerplexityMetric(),
    ToldPerplexityMetric(),
    DistinctMetric(),
    SimilarityMetric(),
    BleuMetric(),
    ReplyRankingMetric(),
    LabelAccuracyMetric(),
    EmotionAccuracyMetric(),
]
