"""Scorers turn rows into scores, out of fold; estimators read shares off the scores."""

from unseen.scores.base import Scorer, Scores
from unseen.scores.open import OpenScorer, OpenScores
from unseen.scores.pairs import PairScorer, PairScores, TwoClassScorer, TwoClassScores
from unseen.scores.posteriors import Posteriors, PosteriorScorer, RawScorer, RowScores

__all__ = [
    "OpenScorer",
    "OpenScores",
    "PairScorer",
    "PairScores",
    "PosteriorScorer",
    "Posteriors",
    "RawScorer",
    "RowScores",
    "Scorer",
    "Scores",
    "TwoClassScorer",
    "TwoClassScores",
]
