"""Scorers turn rows into scores, out of fold; estimators read shares off the scores."""

from unseen.scores.base import Scorer as Scorer
from unseen.scores.base import Scores as Scores
from unseen.scores.open import OpenScorer as OpenScorer
from unseen.scores.open import OpenScores as OpenScores
from unseen.scores.pairs import PairScorer as PairScorer
from unseen.scores.pairs import PairScores as PairScores
from unseen.scores.pairs import TwoClassScorer as TwoClassScorer
from unseen.scores.pairs import TwoClassScores as TwoClassScores
from unseen.scores.posteriors import Posteriors as Posteriors
from unseen.scores.posteriors import PosteriorScorer as PosteriorScorer
from unseen.scores.posteriors import RawScorer as RawScorer
from unseen.scores.posteriors import RowScores as RowScores
