"""Read two tables, estimate, and keep in one record all that a reader wants to know."""

from unseen.study.after import run_audit as run_audit
from unseen.study.after import run_explanation as run_explanation
from unseen.study.after import run_promotion as run_promotion
from unseen.study.classify import TableRule as TableRule
from unseen.study.classify import run_classification as run_classification
from unseen.study.inputs import Inputs as Inputs
from unseen.study.inputs import Windowing as Windowing
from unseen.study.results import AfterResult as AfterResult
from unseen.study.results import Checks as Checks
from unseen.study.results import Classification as Classification
from unseen.study.results import MethodComparison as MethodComparison
from unseen.study.results import Origin as Origin
from unseen.study.results import Study as Study
from unseen.study.results import Suspects as Suspects
from unseen.study.rows import NewRows as NewRows
from unseen.study.rows import Training as Training
from unseen.study.rows import WindowRows as WindowRows
from unseen.study.run import run_checks as run_checks
from unseen.study.run import run_comparison as run_comparison
from unseen.study.run import run_study as run_study
