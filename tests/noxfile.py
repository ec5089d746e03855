"""All tests under conditions that other machines have: `nox -f tests/noxfile.py` (pip install nox).

    nox -f tests/noxfile.py -s python-3.13              # another Python
    nox -f tests/noxfile.py -s "conditions(busy)" -- tests/laws

What comes after -- goes to pytest.
"""

from __future__ import annotations

import nox

PARTS = ("-e", "..[dev]", "-e", "../scale[dev]", "-e", "../integrations", "-e", "../research[papers]")
CONDITIONS = {
    "haswell": {"OPENBLAS_CORETYPE": "Haswell"},  # the kernels of OpenBLAS for other processors
    "skylakex": {"OPENBLAS_CORETYPE": "SkylakeX"},
    "zen": {"OPENBLAS_CORETYPE": "Zen"},
    "one-thread": {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
    "eight-threads": {"OMP_NUM_THREADS": "8", "OPENBLAS_NUM_THREADS": "8"},
    "busy": {},  # more processes than processors
    "random": {},  # in random order; pytest prints the seed
}
ARGUMENTS = {"busy": ("-n", "8"), "random": ("-n", "auto", "-p", "randomly")}


@nox.session(python=["3.11", "3.12", "3.13", "3.14"], name="python")
def with_python(session: nox.Session) -> None:
    """All tests with each supported Python, and all random examples."""
    session.install(*PARTS)
    session.chdir("..")
    session.run("python", "-m", "pytest", "-n", "auto", *session.posargs, env={"SEMSEARCH_TESTS": "all"})


@nox.session
@nox.parametrize("condition", CONDITIONS, ids=CONDITIONS)
def conditions(session: nox.Session, condition: str) -> None:
    """All tests under one condition, with this Python."""
    session.install(*PARTS)
    session.chdir("..")
    arguments = ARGUMENTS.get(condition, ("-n", "auto"))
    session.run("python", "-m", "pytest", *arguments, *session.posargs, env=CONDITIONS[condition])


@nox.session
def installation(session: nox.Session) -> None:
    """Every installation line of the README and of research, in a fresh environment."""
    session.install(*PARTS)
    session.chdir("..")
    session.run("python", "-m", "pytest", "tests/supply/test_installation.py", env={"SEMSEARCH_INSTALL": "1"})
