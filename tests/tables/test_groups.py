"""Keys of rows: windows of time, and the order a reader expects."""

from datetime import UTC, date, datetime, timedelta

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unseen.tables import GroupBy
from unseen.tables.groups import UNITS, KeyCodes, key_of, natural_order
from unseen.tables.values import as_text

moments = st.datetimes(datetime(1900, 1, 1), datetime(2100, 1, 1)).map(
    lambda moment: moment.replace(microsecond=0)
)


@settings(deadline=None)
@given(st.lists(moments, min_size=1, max_size=20), st.sampled_from(sorted(UNITS)))
def test_times_and_their_text_fall_into_the_window_that_the_calendar_says(found, unit):
    quarters = {month: f"Q{1 + (month - 1) // 3}" for month in range(1, 13)}
    forms = {unit: form.replace("Q{quarter}", "") for unit, form in UNITS.items()}
    expected = [moment.strftime(forms[unit]) for moment in found]
    if unit == "quarter":
        expected = [
            begin + quarters[moment.month] for begin, moment in zip(expected, found, strict=True)
        ]
    by = GroupBy("when", unit)
    for kind in ("s", "us", "ns"):
        assert by.keys(pa.array(found, pa.timestamp(kind))).to_pylist() == expected
    for form in ("%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M", "%Y-%m-%dT%H:%M:%S+02:00"):
        text = pa.array([moment.strftime(form) for moment in found])
        assert by.keys(text).to_pylist() == expected


@given(st.dates(date(1900, 1, 1), date(2100, 1, 1)))
def test_all_days_of_a_week_share_its_name(day):
    monday = day - timedelta(days=day.weekday())
    week = pa.array([monday + timedelta(days=i) for i in range(8)])
    names = GroupBy("day", "week").keys(week).to_pylist()
    assert len(set(names[:7])) == 1
    assert names[6] < names[7]


def test_times_with_a_zone_are_cut_in_it():
    late = datetime(2024, 1, 31, 23, 30, tzinfo=UTC)
    column = pa.array([late], pa.timestamp("ms", tz="Europe/Berlin"))
    assert GroupBy("t", "day").keys(column).to_pylist() == ["2024-02-01"]


def test_the_hour_that_clocks_show_twice_is_one_window():
    """When clocks are put back, Arrow would ask which of the two hours is meant."""
    minutes = [datetime(2020, 10, 24, 23, 30 + i, tzinfo=UTC) for i in range(2)]
    minutes += [datetime(2020, 10, 25, hour, 30, tzinfo=UTC) for hour in (0, 1)]
    column = pa.array(minutes, pa.timestamp("s", tz="Europe/Rome"))
    keys = GroupBy("t", "hour").keys(column).to_pylist()
    assert keys == ["2020-10-25 01:00"] * 2 + ["2020-10-25 02:00"] * 2


def test_missing_dates_are_missing_keys():
    column = pa.array(["2024-01-31", "", " NA ", None])
    keys = GroupBy("t", "day").keys(column)
    assert keys.to_pylist() == ["2024-01-31", None, None, None]
    assert GroupBy("t", "day").keys(pa.nulls(2)).null_count == 2


@pytest.mark.parametrize(
    ("values", "unit", "told"),
    [
        (["31/01/2024"], "day", "dates such as 2024-01-31 to be cut by the day; got '31/01/2024'."),
        (["2024-01-31"], "hour", "dates such as 2024-01-31 09:30 to be cut by the hour; got '2024"),
        (["2024-13-01"], "week", "such as 2024-01-31 to be cut by the week; got '2024-13-01'."),
        (["2024-01-31 25:00"], "hour", "to be cut by the hour; got '2024-01-31 25'."),
        (pa.array([2**62], pa.timestamp("us")), "day", "got dates beyond all calendars."),
        (pa.array([2**62], pa.timestamp("s")), "month", "got dates beyond all calendars."),
        ([3], "day", "column 't' must hold dates to be cut by the day; it holds int64."),
    ],
)
def test_what_is_no_date_is_named(values, unit, told):
    with pytest.raises(ValueError) as caught:
        GroupBy("t", unit).keys(pa.array(values))
    assert told in str(caught.value)


def test_stretches_of_time_are_no_keys():
    for column in (
        pa.array([timedelta(days=1)]),
        pa.array([(1, 2, 3)], pa.month_day_nano_interval()),
    ):
        with pytest.raises(ValueError, match="by 't' must hold text, numbers or dates; it holds"):
            KeyCodes("by 't'", 9, "").encode(column)


def test_units_are_known():
    with pytest.raises(
        ValueError, match=r"unit must be one of hour, .*, month, quarter, year; got"
    ):
        GroupBy("t", "decade")


def test_a_unit_that_is_none_is_told_from_a_column_that_is_none():
    GroupBy.parse("sold:year").check(["sold"], "new.csv")
    GroupBy.parse("a:b").check(["a", "a:b"], "new.csv")
    with pytest.raises(ValueError, match=r"cut 'sold' by hour, .*, year, as in .*; got 'decade'\."):
        GroupBy.parse("sold:decade").check(["sold"], "new.csv")
    with pytest.raises(ValueError, match=r"it has no 'sodl:decade'\."):
        GroupBy.parse("sodl:decade").check(["sold"], "new.csv")


@pytest.mark.parametrize("text", ["31.01.2024", "01/31/2024"])
def test_dates_in_another_order_are_told_how_to_be_written(text):
    with pytest.raises(ValueError, match=r"such as 2024-01-31 .*year-month-day before.*dayfirst"):
        GroupBy("t", "month").keys(pa.array([text]))


@pytest.mark.parametrize(
    ("text", "expected"),
    [("ts", GroupBy("ts")), ("ts:day", GroupBy("ts", "day")), ("a:b", GroupBy("a:b"))],
)
def test_a_command_names_column_and_unit(text, expected):
    assert GroupBy.parse(text) == expected


def test_codes_do_not_depend_on_batches_and_mark_missing():
    values = pa.array(["b", None, "a", "NaN", "b", ""])
    whole, cut = KeyCodes("k", 9, ""), KeyCodes("k", 9, "")
    pieces = np.concatenate([cut.encode(values[:2]), cut.encode(values[2:])])
    assert whole.encode(values).tolist() == pieces.tolist() == [0, -1, 1, -1, 0, -1]


def test_text_keys_are_trimmed_and_missing_as_in_any_column():
    column = pa.array(["a ", " a", "a", " NA ", "#N/A", "<NA>", "None", "  "])
    codes = KeyCodes("k", 9, "")
    assert codes.encode(column).tolist() == [0, 0, 0, -1, -1, -1, 1, -1]
    assert list(codes.known) == ["a", "None"]
    missing = as_text(column).is_null().to_pylist()
    assert missing == [code < 0 for code in codes.encode(column).tolist()]
    assert KeyCodes("k", 9, "").encode(column.dictionary_encode()).tolist()[:3] == [0, 0, 0]


@pytest.mark.parametrize(
    ("value", "key"), [(3.0, 3), (date(2024, 1, 31), "2024-01-31"), (float("nan"), None)]
)
def test_a_cell_stands_for_a_key(value, key):
    assert key_of(value) == key
    assert type(key_of(value)) is type(key)


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        (["10", "-1", "1.5", "0", "-2"], ["-2", "-1", "0", "1.5", "10"]),
        (["week 10", "week 9"], ["week 9", "week 10"]),
        (["b", "nan", "2", "10"], ["2", "10", "b", "nan"]),
        ([10**400, 5, 10**399], [5, 10**399, 10**400]),
    ],
)
def test_the_order_a_reader_expects(keys, expected):
    assert natural_order(keys) == natural_order(keys[::-1]) == expected


@given(st.lists(st.integers(-1000, 1000), unique=True))
def test_numbers_as_text_are_in_the_order_of_numbers(found):
    assert natural_order([str(each) for each in found]) == [str(each) for each in sorted(found)]


# Digits of other scripts, and what could stand in a number.
CHARACTERS = st.sampled_from("ab019-+.e_ \t\u0663\u00b2\u2167\u00e9")


@given(
    st.lists(st.text(CHARACTERS, max_size=6), unique=True).flatmap(
        lambda found: st.tuples(st.just(found), st.permutations(found))
    )
)
def test_the_order_of_keys_is_an_order(orders):
    found, shuffled = orders
    assert natural_order(found) == natural_order(shuffled)
