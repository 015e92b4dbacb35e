# SPDX-License-Identifier: Apache-2.0
"""The contract of a forecast method."""
import abc
from collections.abc import Sequence

import numpy as np

DAY = 24
WEEK = 168


class Model(abc.ABC):
    """A model of a series by hours, which forecasts from any hour of the series."""

    @abc.abstractmethod
    def day(self, origin: int, ahead: int) -> np.ndarray:
        """Return the forecast of 24 hours, knowing only the series before `origin`.

        :param origin: the number of known hours of the series.
        :param ahead: 0 for the first 24 hours from `origin` on, 1 for the next 24.
        """


class Method(abc.ABC):
    """A method to forecast a series, an entry point of the namespace climate.forecasts.

    [forecast] method uses the name of the entry point. One instance serves all threads.
    """

    #: The number of hours of a series that the method needs.
    least_hours = 0

    @abc.abstractmethod
    def models(self, series: np.ndarray) -> Sequence[Model]:
        """Return the Models of a series, of which the one with the least error is used.

        :param series: one number for each hour, at least `least_hours`.
        """
