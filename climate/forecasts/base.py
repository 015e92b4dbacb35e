# SPDX-License-Identifier: Apache-2.0
"""The contract of a method of forecasts."""
import abc
from collections.abc import Sequence

import numpy as np

DAY = 24
WEEK = 168


class Model(abc.ABC):
    """A model of a series by hours, which can be asked at any hour of the series."""

    @abc.abstractmethod
    def day(self, origin: int, ahead: int) -> np.ndarray:
        """Return what it says of 24 hours, knowing only the series before `origin`.

        :param origin: how many hours of the series are known.
        :param ahead: 0: the first 24 hours from `origin` on; 1: the next 24.
        """


class Method(abc.ABC):
    """A way to forecast a series. It is an entry point of the namespace climate.forecasts.

    [forecast] method uses the name of the entry point. One instance serves all threads.
    """

    #: How many hours of a series the method needs before it says anything.
    least_hours = 0

    @abc.abstractmethod
    def models(self, series: np.ndarray) -> Sequence[Model]:
        """Return the Models of a series, of which the one with the least error is used.

        :param series: one number for each hour, at least `least_hours`.
        """
