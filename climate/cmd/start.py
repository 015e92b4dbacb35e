# SPDX-License-Identifier: Apache-2.0
"""The start of each program: an error of its configuration is one line, not a traceback."""
import contextlib

from oslo_config import cfg

from climate import errors


@contextlib.contextmanager
def refusing(program):
    """End the program with one line and the exit status 1 if its configuration is wrong.

    :param program: its name, which begins the line.
    """
    try:
        yield
    except (cfg.Error, errors.ClimateError, errors.ConfigurationError) as error:
        raise SystemExit(f'{program}: {error}') from error
