"""Free text and predictions become numbers by rules that are stated, and saved."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import unseen
from unseen.persist import load, save
from unseen.simplex import score_features
from unseen.study import Inputs
from unseen.tables import Columns, ScoreColumns

RNG = np.random.default_rng(0)
WORDS = {"pay": "card bank bill money owe", "trip": "train hotel flight city map"}


def messages(topics):
    return [" ".join([*RNG.permutation(WORDS[topic].split())[:4], "please"]) for topic in topics]


TOPICS = ["pay", "trip"] * 30
TRAIN = pa.table({"message": messages(TOPICS), "topic": TOPICS})
NEW = pa.table({"message": messages(["trip"] * 20)})


def test_text_becomes_columns_in_which_topics_differ(tmp_path):
    columns = Columns(label="topic", text=["message"]).fit(TRAIN, new=NEW)
    made = columns.transform(TRAIN)
    assert made.shape[0] == 60
    first = made[:, :2]
    centres = [first[np.array(TOPICS) == topic].mean(axis=0) for topic in ("pay", "trip")]
    own = np.linalg.norm(first - np.array(centres)[[0, 1] * 30], axis=1)
    assert (own < np.linalg.norm(centres[0] - centres[1]) / 2).all()
    assert_allclose(made.mean(axis=0), 0, atol=1e-6)
    assert "TF-IDF of 11 words of the labelled and the new rows" in columns.statement()[0]
    save(columns, tmp_path / "c.skops")
    assert_array_equal(load(tmp_path / "c.skops").transform(NEW), columns.transform(NEW))


def test_text_needs_both_tables_and_is_hinted_at():
    with pytest.raises(ValueError, match="fit needs the new rows"):
        Columns(label="topic", text=["message"]).fit(TRAIN)
    with pytest.raises(ValueError, match=r"text must name a column of NEW; it has no 'message'"):
        Columns(label="topic", text=["message"]).fit(TRAIN, new=pa.table({"a": [1]}))
    for words, found in (([str(1 / i) for i in range(2, 9)], "none"), (["ant"] * 7, "one")):
        table = pa.table({"topic": ["a"] * 7, "message": words})
        with pytest.raises(ValueError, match=f"words that occur in two rows; it has {found}"):
            Columns(label="topic", text=["message"]).fit(table, new=table[:0])
    for keep in ((), ("message",)):
        with pytest.raises(ValueError, match=r"'message' looks like free text: --text uses it"):
            Columns(label="topic", keep=keep).fit(TRAIN)

    with_number = TRAIN.append_column("number", pa.array(np.arange(len(TRAIN)) % 7))
    (told,) = Columns(label="topic").fit(with_number).notices_
    assert (told.code, told.severity, told.about) == ("free_text_not_used", "warning", "message")


def test_inputs_read_text_of_both_tables_and_refuse_a_saved_one(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    TRAIN.to_pandas().to_csv("train.csv", index=False)
    NEW.to_pandas().to_csv("new.csv", index=False)
    # An option that is given twice says nothing new.
    twice = ("message", "message")
    training, new = Inputs("train.csv", "new.csv", label="topic", text=twice).read()
    columns = Columns(label="topic", text=["message"]).fit(TRAIN, new=NEW)
    assert_array_equal(training.X, columns.transform(TRAIN))
    assert_array_equal(new.X, columns.transform(NEW))
    save(training, tmp_path / "train.skops")
    with pytest.raises(ValueError, match="whose words are learnt from both tables"):
        Inputs("train.skops", "new.csv").read()


LOGITS = RNG.normal(size=(40, 3))
CHANCES = np.exp(LOGITS) / np.exp(LOGITS).sum(axis=1, keepdims=True)
SCORED = pa.table(
    {
        **{f"p_{place}": CHANCES[:, place].astype(str) for place in range(3)},
        "energy": RNG.normal(size=40),
        "name": ["x"] * 40,
        "y": ["a", "b"] * 20,
    }
)


def test_probabilities_are_the_logits_that_made_them():
    found = score_features(CHANCES)
    assert_allclose(found[:, :3], LOGITS - LOGITS.mean(axis=1, keepdims=True))
    assert_allclose(np.exp(found[:, 3]), CHANCES.max(axis=1))
    assert_allclose(score_features(LOGITS)[:, 3], np.log(np.exp(LOGITS).sum(axis=1)))


def test_scores_are_the_only_columns():
    columns = ScoreColumns(["p_*"], "energy", label="y").fit(SCORED)
    assert columns.transform(SCORED).shape == (40, 5)
    assert columns.looked_at(SCORED.column_names) == ["p_0", "p_1", "p_2", "energy"]
    assert "scores_only" in [notice.code for notice in columns.notices_]
    features = score_features(CHANCES)
    mine = ScoreColumns(["p_*"], label="y").fit(SCORED).transform(SCORED)
    spread = np.sqrt(np.mean(features.std(axis=0) ** 2))
    assert_allclose(mine, (features - features.mean(axis=0)) / spread, atol=1e-9)
    assert columns.typed(SCORED)["p_0"].type == pa.float64()
    with pytest.raises(ValueError, match="at least two classes"):
        ScoreColumns(["p_0"], label="y").fit(SCORED)
    broken = SCORED.set_column(0, "p_0", pa.array([None] * 40, pa.string()))
    with pytest.raises(ValueError, match=r"scores must not be missing, in row 1\."):
        columns.transform(broken)


def test_shares_from_scores_see_a_class_that_the_scores_show():
    rng = np.random.default_rng(1)

    def scores(kinds):
        centres = np.array([[4.0, 0, 0], [0, 4.0, 0], [0, 0, 4.0], [1.5, 1.5, 1.5]])
        logits = centres[kinds] + rng.normal(size=(len(kinds), 3))
        return np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)

    y = np.repeat([0, 1, 2], 60)
    new = np.repeat([0, 1, 2, 3], [60, 30, 30, 60])
    found = unseen.estimate_from_scores(scores(y), y, scores(new), random_state=0)
    assert found.unseen == pytest.approx(1 / 3, abs=0.12)
    assert found.notices[0].code == "scores_only"
    with pytest.raises(ValueError, match="must have as many columns"):
        unseen.estimate_from_scores(scores(y), y, scores(new)[:, :2])
    with pytest.raises(ValueError, match="both, or neither"):
        unseen.estimate_from_scores(scores(y), y, scores(new), novelty=y)


def test_a_frame_with_text_dates_and_gaps_is_prepared_as_on_the_command_line():
    rng = np.random.default_rng(0)

    def frame(n_rows, centre, colour):
        size = np.where(rng.random(n_rows) < 0.1, np.nan, rng.normal(centre, 1, n_rows))
        day = pd.Timestamp("2024-01-01")
        return pd.DataFrame({"size": size, "colour": rng.choice(colour, n_rows), "day": day})

    X = pd.concat([frame(60, -4, ["red", "blue"]), frame(60, 4, ["blue"])])
    y, X_new = ["a"] * 60 + ["b"] * 60, frame(60, -4, ["red", "blue"])
    found = unseen.estimate(X, y, X_new, random_state=0, confidence=None)
    columns = Columns()
    rows = columns.fit_transform(X)
    plain = unseen.estimate(rows, y, columns.transform(X_new), random_state=0, confidence=None)
    assert found.unseen == plain.unseen
    assert found.notices[0].text == "Not used: 'day' (holds dates or times)."
