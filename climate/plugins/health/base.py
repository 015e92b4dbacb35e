# SPDX-License-Identifier: Apache-2.0
"""The contract of a source of health, an entry point of ``climate.health``."""
import abc
from collections.abc import Sequence

from oslo_config import cfg

from climate.domain import records


class Unreachable(Exception):
    """The source does not answer, or not in its format; the text says why.

    What was known by it stays as it is.
    """


class Source(abc.ABC):
    """Says which resources do not work. One instance serves all looks of a manager."""

    def __init__(self, conf: cfg.ConfigOpts) -> None:
        self.conf = conf

    @abc.abstractmethod
    def sick(self, resources: Sequence[records.Resource]) -> dict[int, str]:
        """Return {id: why, in words} of the Resources that do not work.

        Changes nothing. The Resources are those of all pools, with properties and facts.

        :raises Unreachable: it cannot be said now.
        """
