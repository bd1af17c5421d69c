"""Any detector, or any closed-set classifier, as a rule: the estimated risk chooses the cut.

A detector or the largest probability of a classifier ranks rows by how odd they are. The estimated
risk of "unseen from t on, else the classifier's label" is a function of t, computed for all t at
once by cumulative sums over rows out of fold (``docs/rejection.md``).
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.random import RandomState
from sklearn.base import is_classifier
from sklearn.ensemble import IsolationForest

from unseen._random import seeded
from unseen._sklearn import HasMethods, StrOptions
from unseen._types import BoolArray, FloatArray, IntArray, Matrix
from unseen.rejection.base import RejectionRule
from unseen.rejection.sample import (
    Folds,
    OpenSample,
    OutOfFold,
    as_chosen,
    held_out,
    rescaled,
    row_masses,
)
from unseen.scores.klr import KernelLogisticRegression

# Slopes of the map from score to novelty that are tried, per standard deviation of the scores.
_SLOPES = 2.0 ** np.arange(-2, 7)


@dataclass(eq=False, repr=False)
class RejectionThreshold(RejectionRule):
    """Turn a detector or a closed-set classifier into a rule with the label "unseen".

    The detector and the classifier learn from the labelled rows only. New rows, and labelled rows
    out of fold, choose the cut of the score by the estimated risk, and the steepness of the
    passage from known to unseen by an estimated square loss.

    Parameters
    ----------
    detector : estimator or None, default=None
        An outlier detector with ``score_samples`` or ``decision_function`` (IsolationForest,
        OneClassSVM, PyOD's), or a classifier with ``predict_proba``, whose largest probability is
        low where a row is odd. None is the largest probability of ``classifier``; with one
        known class, where that is always 1, an IsolationForest.
    classifier : classifier or None, default=None
        Labels the rows that are kept, after its probabilities have been corrected to the shares.
        None is the detector, if that is a classifier, or else
        :class:`~unseen.KernelLogisticRegression`.
    odd_scores : {"auto", "low", "high"}, default="auto"
        Whether the detector scores odd rows low, as in scikit-learn, or high, as in PyOD. "auto" is
        "high" for a detector of PyOD's and "low" for any other. Plays no part where the detector
        is a classifier.
    unseen_label, n_folds, random_state
        Parameters of every rule.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.ensemble import IsolationForest
    >>> from unseen import RejectionThreshold
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat(["left", "right"], 75)
    >>> X = rng.normal(np.where(y == "left", -4, 4)[:, None], 1, (150, 2))
    >>> X_new = np.vstack([rng.normal(-4, 1, (100, 2)), rng.normal([-4, 6], 1, (50, 2))])
    >>> rule = RejectionThreshold(IsolationForest(n_estimators=20), random_state=0)
    >>> rule.fit(X, y, X_new, {"left": 2 / 3, "right": 0.0}).predict([[-4, -4], [-4, 6.5]])
    array(['left', 'unseen'], dtype='<U6')
    """

    detector: Any = None
    classifier: Any = None
    _: KW_ONLY
    odd_scores: str = "auto"

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "detector": [None, HasMethods(["fit", "get_params"])],
        "classifier": [None, HasMethods(["fit", "predict", "get_params"])],
        "odd_scores": [StrOptions({"auto", "low", "high"})],
        **RejectionRule._parameter_constraints,
    }

    def _fit_both(self, sample: OpenSample, rng: RandomState) -> tuple[ThresholdRule, OutOfFold]:
        """All scores out of fold give the cut of the rule, those of other folds each fold's cut."""
        folds, labeller, detector = (
            sample.assign_folds(self.n_folds, rng),
            *self._roles(sample, rng),
        )
        known, new = (np.zeros((len(part), len(sample.shares) + 1)) for part in folds)
        for out, out_new in held_out(folds):
            models = self._models(sample.subset(~out, ~out_new), labeller, detector, rng)
            for X, mask, scored in ((sample.X, out, known), (sample.X_new, out_new, new)):
                if mask.any():  # no model need cope with an empty sample
                    scored[mask] = models.score(X[mask])
        cut = choose_cut(known, sample.codes, new, sample.shares)
        rule = ThresholdRule(self._models(sample, labeller, detector, rng), cut)
        return rule, cut_by_other_folds(known, new, sample, folds)

    def _models(self, sample: OpenSample, labeller: Any, detector: Any, rng: RandomState) -> Models:
        present, codes = np.unique(sample.codes, return_inverse=True)
        seed = int(rng.randint(2**31 - 1))
        if len(present) == 1:  # there is nothing to label, and a classifier detects nothing
            labeller = None
            if detector is None or _classifies(detector):
                detector = IsolationForest()
        if labeller is not None:
            labeller = seeded(labeller, seed).fit(sample.X, codes)
        scale = None
        if detector is not None and _classifies(detector):
            detector = seeded(detector, seed).fit(sample.X, codes)
        elif detector is not None:
            detector = seeded(detector, seed).fit(sample.X)
            # Some detectors score higher the more rows they learn from (OneClassSVM sums over
            # them), so each is measured by its own scores of the new rows, which it does not learn.
            scores = _detector_scores(detector, sample.X_new)
            lower, centre, upper = np.quantile(scores, [0.25, 0.5, 0.75])
            unit = float(upper - lower) or float(scores.std()) or 1.0
            # PyOD and scikit-learn have a decision_function, and mean the opposite by it.
            theirs = type(self.detector).__module__.partition(".")[0] == "pyod"
            is_high = theirs if self.odd_scores == "auto" else self.odd_scores == "high"
            scale = float(centre), unit if is_high else -unit
        # Bayes: posteriors of the labelled sample become posteriors of the new sample.
        correction = sample.shares[present] / np.bincount(codes)
        if not correction.any():
            correction = np.ones(len(present))
        return Models(labeller, detector, scale, correction, present, len(sample.shares))

    def _roles(self, sample: OpenSample, rng: RandomState) -> tuple[Any, Any]:
        """The model that labels, and the model that detects: None for the labeller itself."""
        if self.classifier is not None:
            return self.classifier, self.detector
        if _classifies(self.detector):
            return self.detector, None
        if len(sample.shares) == 1:
            return None, self.detector
        seed = int(rng.randint(2**31 - 1))
        model = KernelLogisticRegression(random_state=seed).fit(sample.X, sample.codes)
        return as_chosen(model), self.detector


@dataclass(frozen=True, eq=False)
class Models:
    """A fitted detector and a fitted classifier, asked together."""

    labeller: Any  # gives the posteriors; None where one class is known
    detector: Any  # gives the score; None takes the labeller's largest probability
    scale: tuple[float, float] | None  # centre and unit of a detector's scores, high where odd
    correction: FloatArray  # factor of each posterior
    present: IntArray  # classes that the labeller knows
    n_classes: int

    def score(self, X: Matrix) -> FloatArray:
        """Score of each row, high where odd, then its K posteriors: shape (n, K + 1)."""
        raw = self._raw_posteriors(X)
        scored = np.zeros((X.shape[0], self.n_classes + 1))
        if self.detector is None:
            scored[:, 0] = -raw.max(axis=1)
        elif self.scale is None:
            scored[:, 0] = -_probabilities(self.detector, X).max(axis=1)
        else:
            centre, unit = self.scale
            scored[:, 0] = (_detector_scores(self.detector, X) - centre) / unit
        # Where all posterior lies on classes of share 0, the classifier's word stands.
        scored[:, 1 + self.present] = rescaled(raw * self.correction, raw)
        return scored

    def _raw_posteriors(self, X: Matrix) -> FloatArray:
        if self.labeller is None:
            return np.ones((X.shape[0], 1))
        if hasattr(self.labeller, "predict_proba"):
            return _probabilities(self.labeller, X)
        if self.detector is None:
            raise TypeError(
                "detector must have predict_proba where its largest probability is the score; "
                f"got {type(self.labeller).__name__}, which has none."
            )
        return np.eye(len(self.present))[np.asarray(self.labeller.predict(X))]


class Cut(NamedTuple):
    """Where the score becomes unseen, and how steeply."""

    place: float
    slope: float

    def probabilities(self, scored: FloatArray) -> FloatArray:
        """Probabilities whose novelty is an S-shaped curve of the score, one half at the cut."""
        steps = self.slope * (scored[:, 0] - self.place)
        # Unlike the logistic curve, this one does not round the oddest rows all to 1.
        novelty = 0.5 + 0.5 * steps / np.sqrt(1.0 + steps**2)
        best = scored[:, 1:].max(axis=1)
        # Solves novelty = unseen / (unseen + (1 - unseen) best) for unseen.
        unseen = novelty * best / (1.0 - novelty + novelty * best)
        return np.column_stack([(1.0 - unseen)[:, None] * scored[:, 1:], unseen])


@dataclass(frozen=True, eq=False)
class ThresholdRule:
    """The models learnt from all labelled rows, and the cut of their score."""

    models: Models
    cut: Cut

    def probabilities(self, X: Matrix) -> FloatArray:
        """Probability of each known class and, last, of unseen ones: shape (n, K + 1)."""
        return self.cut.probabilities(self.models.score(X))


def choose_cut(known: FloatArray, codes: IntArray, new: FloatArray, shares: FloatArray) -> Cut:
    """The cut of least estimated risk, and the slope of least estimated square loss.

    ``known`` and ``new`` hold the score and the K posteriors of each row, out of fold.
    """
    right = known[:, 1:].argmax(axis=1) == codes
    places, risks = risk_by_cut(known[:, 0], codes, right, new[:, 0], shares)
    place = float(places[risks.argmin()])
    spread = float(np.concatenate([known[:, 0], new[:, 0]]).std()) or 1.0
    weights = row_masses(codes, shares)
    losses = []
    for slope in _SLOPES / spread:
        cut = Cut(place, slope)
        unseen, unseen_new = cut.probabilities(known)[:, -1], cut.probabilities(new)[:, -1]
        # Mean of (1 - p)^2 over unseen rows, by the identity of the risk, and of p^2 over known.
        losses.append(np.mean((1 - unseen_new) ** 2) + weights @ (2 * unseen - 1))
    return Cut(place, float(_SLOPES[int(np.argmin(losses))] / spread))


def cut_by_other_folds(
    known: FloatArray, new: FloatArray, sample: OpenSample, folds: Folds
) -> OutOfFold:
    """Probabilities of each fold from scores out of fold and the cut that other folds choose."""
    answers = [np.zeros_like(known), np.zeros_like(new)]
    for out, out_new in held_out(folds):
        cut = choose_cut(known[~out], sample.codes[~out], new[~out_new], sample.shares)
        answers[0][out] = cut.probabilities(known[out])
        answers[1][out_new] = cut.probabilities(new[out_new])
    return OutOfFold(answers[0], sample.codes, answers[1])


def risk_by_cut(
    known: FloatArray, codes: IntArray, right: BoolArray, new: FloatArray, shares: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Every cut t, and the risk of "unseen from t on, else the classifier's label" there.

    ``right`` says of which labelled rows the classifier's label is right. Cuts stand between
    scores, from the cut that rejects all to the cut that rejects nothing.
    """
    values, place = np.unique(np.concatenate([known, new]), return_inverse=True)
    mass = row_masses(codes, shares)
    # Keeping a new row costs its mass; a known row that is kept takes its own mass back,
    # and once more if its label is right: it costs -1, 0 or +1 masses.
    kept_known = np.bincount(place[: len(known)], -mass * (1.0 + right), minlength=len(values))
    kept_new = np.bincount(place[len(known) :], minlength=len(values)) / len(new)
    risks = shares.sum() + np.append(0.0, np.cumsum(kept_known + kept_new))
    between = (values[1:] + values[:-1]) / 2
    return np.concatenate([[values[0] - 1.0], between, [values[-1] + 1.0]]), risks


def _classifies(model: Any) -> bool:
    """Whether it is a classifier; detectors of other libraries may not be able to say."""
    try:
        return bool(is_classifier(model))
    except (AttributeError, TypeError):
        return False


def _probabilities(classifier: Any, X: Matrix) -> FloatArray:
    if not hasattr(classifier, "predict_proba"):
        raise TypeError(
            "detector must have predict_proba if it is a classifier; "
            f"got {type(classifier).__name__}."
        )
    return np.asarray(classifier.predict_proba(X), dtype=np.float64)


def _detector_scores(detector: Any, X: Matrix) -> FloatArray:
    for name in ("score_samples", "decision_function"):
        if hasattr(detector, name):
            return np.asarray(getattr(detector, name)(X), dtype=np.float64).ravel()
    raise TypeError(
        "detector must have score_samples, decision_function or, as a classifier, predict_proba; "
        f"got {type(detector).__name__}."
    )
