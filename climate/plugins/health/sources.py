# SPDX-License-Identifier: Apache-2.0
"""Sources of health: their contract, and the enabled ones.

A source is an entry point of ``climate.health``.
"""
import abc
from collections.abc import Sequence

from oslo_config import cfg

from climate import errors
from climate import loading
from climate.conf import checking
from climate.domain import records

NAMESPACE = 'climate.health'


class SourceUnreachable(Exception):
    """The source does not answer, or its answer is malformed; the text says why.

    The health of its resources does not change.
    """


class Source(abc.ABC):
    """Reports which resources do not work. One instance serves all checks of a manager."""

    def __init__(self, conf: cfg.ConfigOpts) -> None:
        self.conf = conf

    @abc.abstractmethod
    def sick(self, resources: Sequence[records.Resource]) -> dict[int, str]:
        """Return {id: why, in words} of the Resources that do not work.

        Changes nothing. The Resources are those of all pools, with properties and facts.

        :raises SourceUnreachable: the source cannot be read now.
        """


def load(conf):
    """Return {name: Source} of the sources in [health] sources, in that order.

    :raises ConfigurationError: a source is not installed, does not load, or lacks an option.
    """
    classes = loading.load(NAMESPACE, conf.health.sources, '[health] sources')
    if 'http' in classes:
        if not conf.health.http_url:
            raise errors.ConfigurationError(
                '[health] http_url is not set, and [health] sources names http.')
        checking.url(conf, 'health', 'http_url')
        checking.file(conf, 'health', 'http_ca_file')
    return {name: source(conf) for name, source in classes.items()}
