"""Free text and predictions become numbers by rules that are stated, and saved."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import unseen
from unseen.persist import load, save
from unseen.simplex import score_features
from unseen.study import Inputs, run_explanation
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
        with pytest.raises(ValueError, match=r"'message' \(?looks like free text: --text uses it"):
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
    found = score_features(CHANCES, are_probabilities=True)
    assert_allclose(found[:, :3], LOGITS - LOGITS.mean(axis=1, keepdims=True))
    assert_allclose(np.exp(found[:, 3]), CHANCES.max(axis=1))
    energy = score_features(LOGITS, are_probabilities=False)[:, 3]
    assert_allclose(energy, np.log(np.exp(LOGITS).sum(axis=1)))


def test_scores_are_the_only_columns():
    columns = ScoreColumns(["p_*"], "energy", label="y").fit(SCORED)
    assert columns.transform(SCORED).shape == (40, 5)
    assert columns.looked_at(SCORED.column_names) == ["p_0", "p_1", "p_2", "energy"]
    assert "scores_only" in [notice.code for notice in columns.notices_]
    features = score_features(CHANCES, are_probabilities=True)
    mine = ScoreColumns(["p_*"], label="y").fit(SCORED).transform(SCORED)
    spread = np.sqrt(np.mean(features.std(axis=0) ** 2))
    assert_allclose(mine, (features - features.mean(axis=0)) / spread, atol=1e-9)
    assert columns.typed(SCORED)["p_0"].type == pa.float64()
    with pytest.raises(ValueError, match="at least two classes"):
        ScoreColumns(["p_0"], label="y").fit(SCORED)
    broken = SCORED.set_column(0, "p_0", pa.array([None] * 40, pa.string()))
    told = r"scores must not be missing or infinite; 'p_0' is, in row 1\."
    with pytest.raises(ValueError, match=told):
        columns.transform(broken)
    with pytest.raises(ValueError, match=r"missing: 'energy'\.$"):
        columns.transform(SCORED.drop_columns(["energy"]))


@pytest.mark.parametrize("odd", [[-0.2] * 3, [0.9, 0.9, 0.9], [0.0] * 3])
def test_an_odd_row_of_scores_does_not_change_how_the_others_are_read(odd):
    columns = ScoreColumns(["p_*"], label="y").fit(SCORED)
    rows = np.vstack([CHANCES[:5], odd])
    spoilt = pa.table({f"p_{place}": rows[:, place] for place in range(3)})
    assert_array_equal(columns.transform(spoilt)[:5], columns.transform(SCORED)[:5])


def test_probabilities_beside_logits_are_refused():
    columns = ScoreColumns(["p_*"], label="y").fit(SCORED)
    other = pa.table({f"p_{place}": LOGITS[:, place] for place in range(3)})
    told = r"^scores of NEW must be of one kind with scores of TRAIN.* 0% of the new rows are prob"
    with pytest.raises(ValueError, match=told):
        columns.transform(other)
    logits = ScoreColumns(["p_*"]).fit(other)
    with pytest.raises(ValueError, match="100% of the new rows are probabilities"):
        logits.transform(SCORED)
    with pytest.raises(ValueError, match="scores_new must be of one kind with scores"):
        unseen.estimate_from_scores(CHANCES, ["a", "b"] * 20, 100 * CHANCES)


def test_scores_may_be_lists_and_have_a_decimal_comma():
    expected = ScoreColumns(["p_*"], label="y").fit(SCORED).transform(SCORED)
    lists = pa.table({"scores": CHANCES.tolist(), "y": SCORED["y"]})
    assert_array_equal(ScoreColumns(["scores"], label="y").fit(lists).transform(lists), expected)
    commas = {
        f"p_{place}": [str(v).replace(".", ",") for v in CHANCES[:, place]] for place in range(3)
    }
    table = pa.table(commas)
    for decimal in (None, ","):
        columns = ScoreColumns(["p_*"], decimal=decimal).fit(table)
        assert_array_equal(columns.transform(table), expected)
        assert columns.typed(table)["p_0"].to_pylist() == CHANCES[:, 0].tolist()
    with pytest.raises(ValueError, match=r"column 'p_0' must hold scores; got '0[.]"):
        columns.transform(SCORED)


def test_a_text_without_words_is_told():
    columns = Columns(label="topic", text=["message"])
    few = pa.table({"message": [*NEW["message"].to_pylist(), "", None]})
    (told,) = columns.fit(TRAIN, new=few).transform_new(few)[1]
    assert (told.code, told.severity, told.about) == ("newly_missing", "warning", "message")
    assert told.text.endswith("they get no words.")
    none = pa.table({"message": ["", None]})
    with pytest.raises(ValueError, match="columns of NEW must have values as in TRAIN"):
        columns.transform_new(none)
    for train, new, place in ((TRAIN, none, "NEW"), (TRAIN, pa.table({"message": ["!"]}), "NEW")):
        with pytest.raises(ValueError, match=f"it has none in {place}"):
            Columns(label="topic", text=["message"]).fit(train, new=new)
    marks = TRAIN.set_column(0, "message", pa.array(["!!"] * 60))
    with pytest.raises(ValueError, match="it has none in TRAIN"):
        Columns(label="topic", text=["message"]).fit(marks, new=NEW)


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
    assert [notice.code for notice in found.notices[:2]] == ["columns_not_used", "prepared"]
    assert found.notices[0].text == "Not used: 'day' (holds dates or times)."
    codes = [notice.code for notice in found.notices]
    assert "constant_columns" not in codes


def test_a_frame_is_spoken_of_in_its_own_names_and_units():
    rng = np.random.default_rng(0)
    both = {name: rng.normal(5, 1, 160) for name in ("size", "mass")}
    tables = pd.DataFrame({**both, "colour": ["red", "blue"] * 80})
    frame, new = tables[:80], tables[80:].reset_index(drop=True)
    new.loc[:19, "size"] = -999.0
    y, options = ["a", "b"] * 40, {"random_state": 0, "confidence": None}
    notices = unseen.estimate(frame, y, new, **options).notices
    (told,) = [one for one in notices if one.code == "sentinel_values"]
    assert told.text.startswith("column 'size' is -999 in 25% of the new rows")
    assert told.text.endswith("leave the value empty or fill it in.")
    new["size"] = new["size"].astype(str).replace("-999.0", "broken")
    with pytest.raises(ValueError, match=r"got 'broken', in row 1 of X_new\."):
        unseen.estimate(frame, y, new, **options)
    # A row that is drawn is named by its place among all.
    new.loc[:19, "size"] = "1.0"
    new.loc[78:, "size"] = "broken"
    with pytest.raises(ValueError, match=r"got 'broken', in row (79|80) of X_new\."):
        unseen.estimate(frame, y, new, max_rows=78, **options)
    new["size"] = rng.normal(5, 1, 80)
    assert unseen.estimate(frame, y, new, estimator=unseen.MPEIncomplete(), full=True, **options)


def test_explain_uses_a_column_of_text_and_compares_its_words(tmp_path, monkeypatch):
    """The default of --text-column is a column of --text, which stays a feature."""
    monkeypatch.chdir(tmp_path)
    TRAIN.to_pandas().to_csv("train.csv", index=False)
    NEW.to_pandas().to_csv("new.csv", index=False)
    study = run_explanation(Inputs("train.csv", "new.csv", label="topic", text=("message",)))
    assert any("TF-IDF" in sentence for sentence in study.origin.preparation)
