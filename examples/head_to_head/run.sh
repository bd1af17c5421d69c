#!/usr/bin/env bash
# The whole comparison: environments, data, six tools, tables. Python 3.11, bash, a package index.
#
#   examples/head_to_head/run.sh            works in a temporary folder and deletes it
#   examples/head_to_head/run.sh FOLDER     works in FOLDER, keeps it, and reuses the peers' environments
#
# CLASSIFIER=forest asks about a random forest instead of a logistic regression; PYTHON=python3.11
# names another interpreter.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
python=${PYTHON:-python3.11}
classifier=${CLASSIFIER:-logistic}
if [ $# -gt 0 ]; then
  mkdir -p "$1"
  work=$(cd "$1" && pwd)
else
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
fi

# One thread each; LightGBM, inside NannyML, heeds only the limit, and burns time waiting without it.
export OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 OMP_THREAD_LIMIT=1 MKL_NUM_THREADS=1
# No tool may phone home.
export NML_DISABLE_USAGE_LOGGING=1 DO_NOT_TRACK=1
export PYTHONDONTWRITEBYTECODE=1 PIP_DISABLE_PIP_VERSION_CHECK=1

environment() { # tool, then what to install besides its requirements
  local tool=$1 venv="$work/venv-$1"
  shift
  if [ -f "$work/$tool.footprint.json" ]; then return; fi
  "$python" -m venv "$venv"
  "$venv/bin/pip" install --quiet --requirement "$here/requirements/$tool.txt" "$@"
  "$venv/bin/python" "$here/footprint.py" "$work" "$tool" "$tool"
}

ask() { # tool; what it prints is kept and shown only if it fails
  echo "asking $1"
  "$work/venv-$1/bin/python" "$here/ask_$1.py" "$work" >"$work/$1.log" 2>&1 ||
    { tail -n 20 "$work/$1.log" >&2; return 1; }
}

echo "working in $work"
rm -rf "$work/cases" "$work/unseen.footprint.json" # this repository may have changed
environment unseen "$here/../.."
environment nannyml
environment evidently
environment quapy
environment pyod
environment cleanlab
# PyOD was measured alone; now `unseen` comes beside it, to wrap its detector.
"$work/venv-pyod/bin/pip" install --quiet --requirement "$here/requirements/unseen.txt" "$here/../.."

echo "drawing the data"
"$work/venv-unseen/bin/python" "$here/prepare.py" "$work" "$classifier"
for tool in unseen nannyml evidently quapy pyod cleanlab; do ask "$tool"; done
"$work/venv-unseen/bin/python" "$here/collect.py" "$work" "$classifier"
cat "$here/results/$classifier.md"
