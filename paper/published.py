"""What the paper printed: Tables 1 and 2, whole, as data.

How its "All" rows were made is not said, but follows from the numbers. In Table 1 they are the
mean and the standard deviation over all cells of all sets. In Table 2 they are taken over all
true shares, so that a set of seven classes counts seven times where one of two counts twice.
:func:`errors_over` and :func:`intervals_over` do the same for any choice of sets, because a
fair comparison needs the paper's numbers over the very sets that were run.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

__all__ = [
    "ALL_ERRORS",
    "ALL_INTERVALS",
    "DATA_SETS",
    "ERRORS",
    "INDISTINGUISHABLE",
    "INTERVALS",
    "METHODS",
    "Coverage",
    "DataSet",
    "Spread",
    "errors_over",
    "intervals_over",
]

METHODS = ("MPE-Incomplete", "MPE-Projected", "MPE-Joint", "EM-KLR", "L2", "KL", "baseline")
"""The columns of Table 1."""

INDISTINGUISHABLE = ("MPE-Projected", "MPE-Joint", "EM-KLR")
"""On binary sets, no two of these differ at the 5% level; all other pairs of methods do."""

_NAMES_AND_COUNTS = """
australian     Australian      2   350   153
banana         Banana          2  2677  1188
breast_cancer  Breast-cancer   2   140    41
diabetes       Diabetes        2   389   134
german         German          2   506   150
image          Image           2  1167   495
ionosphere     Ionosphere      2   178    63
ringnorm       Ringnorm        2  3738  1832
saheart        Saheart         2   234    80
splice         Splice          2  1605   763
thyroid        Thyroid         2   109    33
twonorm        Twonorm         2  3738  1849
waveform       Waveform        2  2526   824
sensit         SensIT          3  1011   492
dna            DNA             3  1011   474
opportunity    Opportunity     4  1150   300
satimage       SatImage        6  2241   536
segment        Segment         7  1167   165
"""

_TABLE_1 = """
binary         .188 .20  .131 .17  .140 .20  .145 .21  .104 .12  .155 .17  .270 .39
multiclass     .143 .08  .137 .09  .114 .07  .098 .14  .109 .08   n/a n/a  .097 .10
australian     .169 .12  .132 .13  .094 .07  .096 .08  .077 .06  .164 .14  .179 .12
banana         .045 .04  .030 .04  .019 .02  .016 .02  .128 .08  .296 .22  .117 .07
breast_cancer  .535 .20  .312 .24  .488 .32  .442 .35  .234 .17  .235 .19  .875 .58
diabetes       .221 .10  .152 .11  .201 .17  .133 .12  .112 .09  .182 .18  .393 .29
german         .307 .15  .188 .17  .219 .18  .211 .17  .146 .10  .180 .13  .645 .47
image          .086 .06  .066 .06  .044 .04  .020 .02  .083 .07  .134 .11  .053 .04
ionosphere     .217 .17  .176 .17  .129 .11  .052 .04  .125 .10  .140 .12  .098 .08
ringnorm       .023 .03  .018 .03  .010 .01  .165 .20  .014 .01  .022 .01  .018 .01
saheart        .406 .20  .283 .22  .364 .27  .222 .19  .184 .15  .225 .18  .552 .39
splice         .088 .07  .073 .07  .049 .05  .050 .03  .050 .04  .080 .06  .105 .06
thyroid        .265 .19  .204 .20  .153 .13  .183 .28  .163 .17  .300 .25  .339 .54
twonorm        .022 .02  .018 .01  .010 .01  .269 .21  .010 .01  .023 .01  .025 .01
waveform       .063 .04  .045 .03  .043 .03  .028 .02  .019 .02  .036 .03  .113 .07
sensit         .189 .08  .140 .09  .169 .08  .340 .16  .104 .06   n/a n/a  .210 .12
dna            .080 .04  .074 .04  .048 .03  .025 .02  .062 .03   n/a n/a  .055 .02
opportunity    .154 .07  .158 .08  .116 .05  .067 .04  .156 .14   n/a n/a  .136 .09
satimage       .109 .06  .115 .08  .085 .04  .031 .01  .083 .04   n/a n/a  .059 .02
segment        .183 .08  .196 .11  .152 .07  .027 .01  .139 .05   n/a n/a  .025 .02
"""

_TABLE_2 = """
binary         .947 .26
multiclass     .972 .10
australian     .955 .17
banana         .991 .06
breast_cancer  .900 .54
diabetes       .991 .29
german         .982 .34
image          .945 .10
ionosphere     .918 .23
ringnorm       .982 .03
saheart        .891 .41
splice         .964 .11
thyroid        .818 .28
twonorm        .991 .03
waveform       .982 .08
sensit         .991 .17
dna            .985 .09
opportunity    .975 .12
satimage       .982 .06
segment        .949 .09
"""


@dataclass(frozen=True)
class DataSet:
    """One of the paper's 18 sets.

    Parameters
    ----------
    title : str
        Its name in the paper.
    n_classes : int
        The paper's M.
    train, test : int
        Rows in a training and in a test sample.

    Examples
    --------
    >>> from paper.published import DATA_SETS
    >>> DATA_SETS["segment"]
    DataSet(title='Segment', n_classes=7, train=1167, test=165)
    """

    title: str
    n_classes: int
    train: int
    test: int


@dataclass(frozen=True)
class Spread:
    """Mean and standard deviation of the l1 error over permutations and proportions.

    Examples
    --------
    >>> from paper.published import ERRORS
    >>> ERRORS["banana"]["MPE-Joint"]
    Spread(mean=0.019, sd=0.02)
    """

    mean: float
    sd: float


@dataclass(frozen=True)
class Coverage:
    """How the 95% intervals did.

    Parameters
    ----------
    inside : float
        Fraction of the true shares inside their intervals.
    deviation : float
        Root mean square distance of the upper limit from the true share.

    Examples
    --------
    >>> from paper.published import ALL_INTERVALS
    >>> ALL_INTERVALS["binary"]
    Coverage(inside=0.947, deviation=0.26)
    """

    inside: float
    deviation: float


def _rows(block: str) -> dict[str, list[str]]:
    return {line.split()[0]: line.split()[1:] for line in block.strip().splitlines()}


def _spreads(numbers: list[str]) -> dict[str, Spread]:
    pairs = zip(METHODS, numbers[::2], numbers[1::2], strict=True)
    return {name: Spread(float(mean), float(sd)) for name, mean, sd in pairs if mean != "n/a"}


DATA_SETS = {
    key: DataSet(title, int(n_classes), int(train), int(test))
    for key, (title, n_classes, train, test) in _rows(_NAMES_AND_COUNTS).items()
}
"""Each set under the name it has in this library, in the order of the paper's tables."""

_ERRORS = {key: _spreads(numbers) for key, numbers in _rows(_TABLE_1).items()}
_INTERVALS = {
    key: Coverage(float(inside), float(deviation))
    for key, (inside, deviation) in _rows(_TABLE_2).items()
}

ERRORS = {key: _ERRORS[key] for key in DATA_SETS}
"""Table 1: data set, then method, to mean and standard deviation."""

ALL_ERRORS = {group: _ERRORS[group] for group in ("binary", "multiclass")}
"""Table 1, the rows "All Binary" and "All Multiclass"."""

INTERVALS = {key: _INTERVALS[key] for key in DATA_SETS}
"""Table 2: data set to coverage."""

ALL_INTERVALS = {group: _INTERVALS[group] for group in ("binary", "multiclass")}
"""Table 2, the rows "All Binary" and "All Multiclass"."""


def errors_over(method: str, datasets: Iterable[str]) -> Spread | None:
    """The paper's mean and standard deviation over the cells of some of its sets.

    Every set has as many cells as any other, so the mean is the mean of the set means, and the
    variance is the mean variance within sets plus the variance of the set means.

    Parameters
    ----------
    method : str
        A column of Table 1.
    datasets : iterable of str
        Data sets.

    Returns
    -------
    Spread or None
        None where the paper lacks the method on one of the sets, or there are no sets.

    Examples
    --------
    >>> from paper.published import errors_over
    >>> round(errors_over("MPE-Joint", ["dna", "satimage", "segment"]).mean, 3)
    0.095
    >>> errors_over("KL", ["dna", "satimage", "segment"]) is None
    True
    """
    spreads = [ERRORS.get(key, {}).get(method) for key in datasets]
    found = [spread for spread in spreads if spread is not None]
    if not found or len(found) < len(spreads):
        return None
    means = np.array([spread.mean for spread in found])
    variances = np.square([spread.sd for spread in found])
    return Spread(float(means.mean()), float(np.sqrt(variances.mean() + means.var())))


def intervals_over(datasets: Iterable[str]) -> Coverage | None:
    """The paper's coverage and upper deviation over all true shares of some of its sets.

    Parameters
    ----------
    datasets : iterable of str
        Data sets.

    Returns
    -------
    Coverage or None
        None where the paper lacks one of the sets, or there are none.

    Examples
    --------
    >>> from paper.published import intervals_over
    >>> round(intervals_over(["dna", "satimage", "segment"]).inside, 3)
    0.968
    """
    keys = list(datasets)
    if not keys or any(key not in INTERVALS for key in keys):
        return None
    n_classes = [DATA_SETS[key].n_classes for key in keys]
    inside = np.average([INTERVALS[key].inside for key in keys], weights=n_classes)
    squares = np.square([INTERVALS[key].deviation for key in keys])
    return Coverage(float(inside), float(np.sqrt(np.average(squares, weights=n_classes))))
