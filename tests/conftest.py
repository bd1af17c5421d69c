"""What several test files share."""

import resource
import subprocess
import sys
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import settings

# The same examples in every run; a test may ask for more.
settings.register_profile("fixed", deadline=None, derandomize=True, max_examples=40)
settings.load_profile("fixed")

Samples = tuple[np.ndarray, np.ndarray, np.ndarray]


def blobs(n_left: int, n_right: int, n_new: int, seed: int = 0) -> Samples:
    """Two known classes; new rows are 50% of the first, 20% of the second, 30% of a third."""
    rng = np.random.default_rng(seed)
    X = np.vstack([rng.normal(-3, 1, (n_left, 3)), rng.normal(3, 1, (n_right, 3))])
    X_new = np.vstack(
        [
            rng.normal(-3, 1, (n_new // 2, 3)),
            rng.normal(3, 1, (n_new // 5, 3)),
            rng.normal([-3, 3, 9], 1, (3 * n_new // 10, 3)),
        ]
    )
    return X, np.repeat(["left", "right"], [n_left, n_right]), X_new


# Whole processes, pages, browsers, simulations: what runs long stays out of `make quick`.
SLOW = (
    "cli", "drift", "loop", "monitoring", "paper", "statistical", "test_api.py",
    "test_bad_input.py", "test_base.py", "test_browser.py", "test_calibration.py",
    "test_classifier.py", "test_cluster.py", "test_clusters.py", "test_contract.py",
    "test_control.py", "test_crossfit.py", "test_detection.py", "test_diagnostics.py",
    "test_displays.py", "test_docs_pages.py", "test_fit.py", "test_forest.py", "test_frozen.py",
    "test_full.py", "test_full_table.py", "test_held_out.py", "test_histogram.py",
    "test_import.py", "test_incomplete.py", "test_interoperability.py", "test_intervals.py",
    "test_joint.py", "test_kernel.py", "test_kernel_mean.py", "test_kl.py", "test_klr.py",
    "test_l2.py", "test_labelling.py", "test_odd_names.py", "test_one_line.py",
    "test_open_set.py", "test_page.py", "test_persist.py", "test_placement.py", "test_plugin.py",
    "test_posteriors.py", "test_properties.py", "test_quapy_adapter.py", "test_remote.py",
    "test_resume.py", "test_risk.py", "test_sampling.py", "test_scales.py", "test_scorers.py",
    "test_slope.py", "test_small_and_odd.py", "test_source.py", "test_study.py", "test_svg.py",
    "test_texts.py", "test_threshold.py", "test_tree.py", "test_user_estimators.py",
    "test_write.py",
)  # fmt: skip


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests of slow folders and files."""
    for item in items:
        if set(item.path.relative_to(item.config.rootpath).parts) & set(SLOW):
            item.add_marker(pytest.mark.slow)


# They hold no doctests, and as modules they would all have the same name.
collect_ignore_glob = ["*conftest.py"]


@pytest.fixture(scope="session")
def samples() -> Samples:
    """As few rows as the folds can do with: for what must hold exactly. Read-only, as shared."""
    made = blobs(60, 50, 100)
    for values in made:
        values.flags.writeable = False
    return made


@pytest.fixture(scope="session")
def draws() -> list[Samples]:
    """Four draws with enough rows to find the shares: for what must hold on average."""
    return [blobs(300, 240, 600, seed) for seed in range(4)]


@pytest.fixture(scope="session")
def child_cpu_seconds() -> Callable[..., float]:
    """CPU time of a Python process: the least of a few, as noise only ever adds."""

    def used() -> float:
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime

    def least(*arguments: str, repeats: int = 4) -> float:
        times = []
        for _ in range(repeats):
            before = used()
            subprocess.run([sys.executable, *arguments], check=True, capture_output=True)
            times.append(used() - before)
        return min(times)

    return least
