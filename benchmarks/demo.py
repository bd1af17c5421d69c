"""``unseen demo`` drawn many times: unseen share, 95% interval, and errors. About 2 CPU-minutes.

    python benchmarks/demo.py

Each draw takes other rows of the bundled digits; 30% of the new rows are sevens, eights and nines,
which training never saw. Writes results/demo.csv, from which tools/readme_picture.py draws the
picture of the README.
"""

from __future__ import annotations

from _common import write_csv  # isort: skip

from unseen.demo import Demo

DRAWS = 20


def main() -> None:
    rows = []
    for seed in range(DRAWS):
        record = Demo.run(seed)
        lower, upper = record.estimate.intervals[-1]
        ours, closed = record.errors
        numbers = {"unseen": record.estimate.unseen, "lower": lower, "upper": upper}
        numbers |= {"truth": record.truth[-1], "error": ours, "closed_set_error": closed}
        rows.append({"seed": seed, **{name: f"{value:.4f}" for name, value in numbers.items()}})
        print(*rows[-1].values(), flush=True)
    write_csv("demo.csv", rows)


if __name__ == "__main__":
    main()
