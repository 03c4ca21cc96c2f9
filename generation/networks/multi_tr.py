"""`multi-tr`: TRS, trained to recognise the dialog's emotion as well.

L = L_words + weight * L_emotion,   logits of the 32 emotions = K c,  where c is the encoder's state at CLS
"""

from functools import partial
from typing import TYPE_CHECKING

from generation.networks.families import option_of
from generation.networks.trs import TrsFamily, score_words_and_emotion
from generation.training.objective import Objective

if TYPE_CHECKING:
    from generation.training.plan import Plan, Say
    from generation.training.world import World


class MultiTrFamily(TrsFamily):
    ranks_emotions = True

    def prepare(self, part: str, plan: "Plan", world: "World", say: "Say") -> Objective:
        weighted = partial(score_words_and_emotion, emotion_weight=option_of(plan, "emotion_weight"))
        return self.prepare_with(score_words_and_emotion, weighted, plan, world, say)
