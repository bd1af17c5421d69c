"""Sizes, classes, source and licence of each data set.

The rows are the paper's: its table of training and test counts fits no others (docs/data.md).
Every set that is loaded, from wherever, is held against these facts.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field

import numpy as np

from unseen.datasets.record import Label, Rows

__all__ = ["CATALOGUE", "Facts", "check_facts", "fingerprint"]


@dataclass(frozen=True)
class Facts:
    """One line of the catalogue; an empty ``counts`` means that only the classes are known."""

    title: str
    source: str
    licence: str
    n_rows: int
    n_features: int
    classes: tuple[Label, ...]
    unobserved: Label
    counts: tuple[int, ...] = field(default=())
    fingerprint: str = ""


_CC_BY = "CC BY 4.0"
_NONE_STATED = "none stated"


def _binary(
    title: str, source: str, licence: str, counts: tuple[int, int], n_features: int, mark: str = ""
) -> Facts:
    return Facts(title, source, licence, sum(counts), n_features, (-1, 1), 1, counts, mark)


CATALOGUE: dict[str, Facts] = {
    "australian": _binary(
        "Australian credit approval",
        "Quinlan 1987; UCI 143 (Statlog)",
        _CC_BY,
        (383, 307),
        14,
        "bbf2e34cfc4d8330e0674dab604d7f755f6b7d96b62cee3c0c6a485a6b0251c0",
    ),
    "banana": _binary(
        "Two crossing bananas, artificial",
        "Rätsch, IDA benchmark; rounded to 3 digits in KEEL",
        _NONE_STATED,
        (2924, 2376),
        2,
        "8d56d98835c3db9aa68aad76fa0e52a7f82e33d86be282dd6c9107acf2a764cd",
    ),
    "breast_cancer": _binary(
        "Breast cancer, Ljubljana: recurrence",
        "Zwitter and Soklic 1988; UCI 14",
        _CC_BY,
        (196, 81),
        9,
        "ff0cb86e4b78a47999d8c492452483bcde31bc8752cd83b826a09f7bb9d21fa8",
    ),
    "diabetes": _binary(
        "Pima Indians diabetes",
        "Smith et al. 1988; NIDDK, formerly UCI",
        _NONE_STATED,
        (500, 268),
        8,
        "b7e15fcf470609356d2c42a91e6dd60a8720844019b68f22b1ef3247a6090904",
    ),
    "german": _binary(
        "German credit: bad risk",
        "Hofmann 1994; UCI 144 (Statlog)",
        _CC_BY,
        (700, 300),
        20,
        "ecd10f6d22818e3de9931f7a3474fc57b83bec0671d41a1ad3c67d91f0fd41cc",
    ),
    "image": _binary(
        "Image segments: brickface, sky, foliage, path",
        "Vision Group 1990; UCI 50 (Statlog 147)",
        _CC_BY,
        (990, 1320),
        18,
        "431626bb4439ff23297721b87d6fd92832a7041dd65b59ca469a411fa61c066e",
    ),
    "ionosphere": _binary(
        "Radar returns from the ionosphere: good",
        "Sigillito et al. 1989; UCI 52",
        _CC_BY,
        (126, 225),
        34,
        "d49be15b63f30395ea278c51886ced483d1d82a78bbddebbf965a635a20b06eb",
    ),
    "ringnorm": _binary("Ringnorm, artificial", "Breiman 1996", "generated", (3736, 3664), 20),
    "saheart": _binary(
        "South African heart disease",
        "Rousseauw et al. 1983; Hastie et al. 2001",
        _NONE_STATED,
        (302, 160),
        9,
        "1014f9a0cc19b9c1385388a295199a7c8bc71af363bb5c4ee175e230135c5987",
    ),
    "splice": _binary(
        "Splice junctions in primate DNA: junction",
        "Noordewier et al. 1991; UCI 69",
        _CC_BY,
        (1648, 1527),
        60,
        "a51df88b1cc58b93c4387cc9e25ffb9c78b9bf2cd84edd77bc5a466de3578db9",
    ),
    "thyroid": _binary(
        "Thyroid gland: hyper or hypo",
        "Coomans et al. 1983; UCI 102 (new-thyroid)",
        _CC_BY,
        (150, 65),
        5,
        "237648cb4ef5b8300adc9fbca04a7fe98b0862977181f0e2a773cf2b13f6413c",
    ),
    "twonorm": _binary("Twonorm, artificial", "Breiman 1996", "generated", (3697, 3703), 20),
    "waveform": _binary(
        "Waveform, artificial: class 1", "Breiman et al. 1984", "generated", (3353, 1647), 21
    ),
    "sensit": Facts(
        "SensIT vehicles, acoustic and seismic",
        "Duarte and Hu 2004; LIBSVM data sets",
        _NONE_STATED,
        2000,
        100,
        (1, 2, 3),
        3,
    ),
    "dna": Facts(
        "Splice junctions in primate DNA, 180 indicators",
        "Noordewier et al. 1991; Statlog",
        _CC_BY,
        2000,
        180,
        ("ei", "ie", "n"),
        "n",
        (464, 485, 1051),
        "08d921cd5669d1df09ff5a32af0a88b3a2a164dceaafc12c578a893f8b59b633",
    ),
    "opportunity": Facts(
        "Opportunity, modes of locomotion",
        "Roggen et al. 2010; UCI 226",
        _CC_BY,
        2276,
        77,
        ("lie", "sit", "stand", "walk"),
        "stand",
        (476, 600, 600, 600),
    ),
    "satimage": Facts(
        "Landsat multi-spectral pixels",
        "Srinivasan 1993; UCI 146 (Statlog)",
        _CC_BY,
        4435,
        36,
        (1, 2, 3, 4, 5, 7),
        1,
        (1072, 479, 961, 415, 470, 1038),
        "2bc885e779deb4c04c181f362311c71fef5426a22921eb17d5f30a27e330d40d",
    ),
    "segment": Facts(
        "Image segments, outdoor",
        "Vision Group 1990; UCI 50 (Statlog 147)",
        _CC_BY,
        2310,
        19,
        ("brickface", "cement", "foliage", "grass", "path", "sky", "window"),
        "brickface",
        (330,) * 7,
        "b642a511fac9c53b08014d0630a67a8907f9f6b7ee10bf902d4ac44590cb1cbf",
    ),
}


def check_facts(name: str, rows: Rows, where: str) -> None:
    """Refuse rows whose number, features or classes are not those of the catalogue.

    Examples
    --------
    >>> check_facts("banana", Rows(np.ones((3, 2)), np.ones(3, dtype=int), ("a", "b")), "b.npz")
    Traceback (most recent call last):
        ...
    ValueError: b.npz must hold 5300 rows of 2 features; got 3 of 2.
    """
    facts = CATALOGUE[name]
    n_rows, n_features = rows.X.shape
    if (n_rows, n_features) != (facts.n_rows, facts.n_features):
        raise ValueError(
            f"{where} must hold {facts.n_rows} rows of {facts.n_features} features; "
            f"got {n_rows} of {n_features}."
        )
    labels, counts = (part.tolist() for part in np.unique(rows.y, return_counts=True))
    if labels != list(facts.classes):
        raise ValueError(f"{where} must hold the classes {list(facts.classes)}; got {labels}.")
    if facts.counts and counts != list(facts.counts):
        raise ValueError(
            f"{where} must hold {list(facts.counts)} rows of the classes {labels}; got {counts}."
        )


def fingerprint(rows: Rows) -> str:
    """The sha256 of rows and labels, whatever the order of the rows.

    Examples
    --------
    >>> one = Rows(np.array([[0.0], [1.0]]), np.array([-1, 1]), ("x",))
    >>> other = Rows(one.X[::-1], one.y[::-1], ("x",))
    >>> fingerprint(one) == fingerprint(other)
    True
    """
    codes = np.unique(rows.y, return_inverse=True)[1]
    # Adding zero turns -0.0 into 0.0: equal numbers, but not equal bytes.
    table = np.column_stack([rows.X, codes]).astype("<f8") + 0.0
    ordered = np.ascontiguousarray(table[np.lexsort(table.T)])
    return hashlib.sha256(ordered.tobytes()).hexdigest()
