# SPDX-License-Identifier: Apache-2.0
"""The extras of the installed package, and what is missing of them."""
from importlib import metadata
import pathlib
import re
import sys

from climate import version

_NAME = re.compile(r'[\w.-]+')


def require(extra: str) -> None:
    """End the program with a message unless every package of `extra` is installed.

    The command and the pieces in Nova need no extra, but each installation has all programs. A
    checkout that is not installed is not checked.
    """
    missing = _missing(extra)
    if missing:
        program = pathlib.Path(sys.argv[0]).name
        raise SystemExit(
            f'{program}: this installation of Climate has the command and the pieces in Nova, but '
            f'not the service; missing are: {", ".join(missing)}. Install the service into an '
            f"environment of its own: python3 -m pip install '{version.DISTRIBUTION}[{extra}]'.")


def _missing(extra: str) -> list[str]:
    """Return the names of the packages of `extra` that are not installed, sorted."""
    try:
        requirements = metadata.requires(version.DISTRIBUTION) or []
    except metadata.PackageNotFoundError:
        return []
    names = {_NAME.match(each).group() for each in requirements  # type: ignore[union-attr]
             if re.search(rf'extra == ["\']{re.escape(extra)}["\']', each)}
    return sorted(name for name in names if not _is_installed(name))


def _is_installed(name: str) -> bool:
    try:
        metadata.distribution(name)
    except metadata.PackageNotFoundError:
        return False
    return True
