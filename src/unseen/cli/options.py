"""Arguments and options that several commands share."""

from __future__ import annotations

import re
from collections.abc import Callable
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from unseen.proportions import ProportionEstimator

Command = TypeVar("Command", bound=Callable[..., Any])

_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")


class _FileName(click.Path):
    """The name of a file, a pattern or ``-``: not empty, and not an address of the web."""

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        """The name, as a path where one is wanted."""
        # Of a variable that is not set; as a path it would be the current folder.
        if not str(value).strip():
            self.fail("must name a file; got an empty text. Is a variable not set?", param, ctx)
        if _ADDRESS.match(str(value)):
            rule = "must name a file on this machine, and not an address"
            self.fail(f"{rule}; got {value!r}.", param, ctx)
        return super().convert(value, param, ctx)


file_name = _FileName(readable=False)  # reading says more of what may not be read
output_path = _FileName(dir_okay=False, path_type=Path)


def estimators() -> dict[str, ProportionEstimator]:
    """Every public estimator of class proportions; the default first, closed-set methods last."""
    from unseen.proportions import OpenSetEstimator, all_estimators

    ordered = sorted(
        all_estimators(), key=lambda one: (type(one) is not OpenSetEstimator, not one.sees_unseen)
    )
    return {type(one).__name__: one for one in ordered}


def _find_method(ctx: Any, option: Any, name: str | None) -> ProportionEstimator | None:
    """The estimator of that name, with its default parameters; upper or lower case."""
    if name is None:
        return None
    named = estimators()
    lowered = {one.lower(): one for one in named}
    if name.lower() not in lowered:
        close = get_close_matches(name.lower(), lowered, n=1)
        advice = f" Did you mean {lowered[close[0]]}?" if close else ""
        raise click.UsageError(f"--method must be one of {', '.join(named)}; got {name!r}.{advice}")
    return named[lowered[name.lower()]]


def _separator(context: Any, option: Any, given: str | None) -> str | None:
    """One letter, or the name of one; a shell makes tabs hard to type."""
    from unseen.tables.formats import SEPARATORS

    mark = {**SEPARATORS, "\\t": "\t"}.get(given or "", given)
    if mark is not None and (len(mark) != 1 or ord(mark) > 127 or mark in '"\r\n'):
        names = ", ".join(SEPARATORS)
        raise click.BadParameter(f"must be one letter, or one of {names}; got {given!r}.")
    return mark


def _work_on(context: click.Context, option: Any, device: str | None) -> None:
    """Run the rest of the command on a device; say in one line what is missing."""
    if device is not None:
        from unseen._arrays import on_device

        try:
            context.with_resource(on_device(device))
        except (ImportError, RuntimeError, ValueError) as error:
            raise click.ClickException(str(error).replace("device", "--device", 1)) from None


def seed_option(help: str) -> Callable[[Command], Command]:
    """The seed of all random draws; ``help`` says what is drawn."""
    seeds = click.IntRange(0, 2**32 - 1)
    return click.option("--seed", type=seeds, default=0, show_default=True, help=help)


def share_option(name: str, default: float | None, help: str) -> Callable[[Command], Command]:
    """A share above 0 and below 1."""
    shares = click.FloatRange(0, 1, min_open=True, max_open=True)
    return click.option(name, type=shares, default=default, show_default=True, help=help)


def _repeated(name: str, metavar: str, help: str) -> Callable[[Command], Command]:
    return click.option(name, metavar=metavar, multiple=True, help=f"{help}; may be repeated.")


jobs_option = click.option(
    "--jobs",
    type=click.IntRange(min=1),
    help="Cores to use [default: all]. The answer is the same for any number.",
)
method_option = click.option(
    "--method",
    "estimator",
    metavar="NAME",
    callback=_find_method,
    help="Estimator; `unseen methods` lists them [default: OpenSetEstimator]",
    shell_complete=lambda ctx, option, begun: [
        name for name in estimators() if name.lower().startswith(begun.lower())
    ],
)
group_option = click.option(
    "--group",
    metavar="COLUMN",
    help="Column with the person, site or batch of each row. Groups of TRAIN are held out, and "
    "what is called unseen there is subtracted.",
)
confidence_option = share_option("--confidence", 0.95, "Level of the intervals.")
quiet_option = click.option("--quiet", "-q", is_flag=True, help="Print nothing but errors.")
report_option = click.option(
    "--report", type=output_path, help="Write one self-contained HTML page."
)
json_option = click.option(
    "--json", "json_path", type=file_name, help="Write everything as JSON; - is standard output."
)
_FORMATS = ("csv", "tsv", "parquet", "feather", "jsonl", "npy", "npz", "arff", "xlsx", "h5ad")
_COLUMN_OPTIONS = [
    _repeated(
        "--features",
        "COLUMN",
        'Use only this column, such as "embedding", or the columns of a pattern "f_*"',
    ),
    _repeated("--text", "COLUMN", "Use this column of free text (TF-IDF and SVD)"),
    _repeated("--scores", "COLUMN", 'Scores of a classifier, "p_*", as the only columns'),
    click.option(
        "--novelty", metavar="COLUMN", help="A score of novelty beside --scores, such as an energy."
    ),
    click.option(
        "--unit-rows", is_flag=True, help="Divide each embedding or text by its length (cosine)."
    ),
    _repeated("--drop", "COLUMN", "Leave out this column"),
    _repeated("--keep", "COLUMN", "Use this column even if it looks like an id or a constant"),
]
_FILE_OPTIONS = [
    _repeated("--missing", "VALUE", "A value that means missing, such as -999"),
    click.option(
        "--decimal",
        type=click.Choice([".", ","]),
        help="Mark before the decimals [default: what suits a column]",
    ),
    click.option(
        "--sep",
        "separator",
        callback=_separator,
        help="Mark between the fields of text: ; | tab ... [default: by the first lines]",
    ),
    click.option(
        "--encoding", help="Encoding of text, such as latin-1 [default: by the first bytes]"
    ),
    click.option(
        "--rows",
        "max_rows",
        type=click.IntRange(min=20),
        default=20_000,
        show_default=True,
        help="Rows used of each table; a larger table is sampled.",
    ),
    click.option(
        "--device",
        callback=_work_on,
        expose_value=False,
        help='Where the heavy work runs: "cuda" is a graphics card, "cuda:1" the second one '
        "[default: cpu]",
    ),
    jobs_option,
    seed_option("Seed of all random draws."),
    click.option(
        "--format",
        type=click.Choice(_FORMATS),
        metavar="NAME",
        help=f"Format of both tables: {', '.join(_FORMATS)} [default: by suffix; standard input "
        "is csv]",
    ),
]


def table_options(command: Command, *, labels: str = "--labels") -> Command:
    """TRAIN and NEW, and how to read them: the fields of :class:`~unseen.study.Inputs`.

    ``labels`` is the spelling of the option for labels of TRAIN in a file of their own.
    """
    arguments = [click.argument(name, type=file_name) for name in ("train", "new")]
    label = click.option(
        "--label", "-y", metavar="COLUMN", help="Column of TRAIN with the classes."
    )
    beside = click.option(
        labels, "labels", type=file_name, help="File with the classes of TRAIN, such as y.npy."
    )
    for option in reversed([*arguments, label, beside, *_COLUMN_OPTIONS, *_FILE_OPTIONS]):
        command = option(command)
    return command
