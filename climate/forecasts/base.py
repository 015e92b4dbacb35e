# SPDX-License-Identifier: Apache-2.0
"""The contract of a forecast method."""
import abc
from collections.abc import Sequence

import numpy as np

DAY = 24
WEEK = 168


class Model(abc.ABC):
    """A model of a series by hours, which forecasts from any hour of the series.

    :cvar simple: True for a guess that uses neither smoothing nor a correction. If a simple model
        and another one have nearly the same errors, the simple one gets more weight.
    """

    simple = False

    @abc.abstractmethod
    def values(self, origins: np.ndarray, ahead: np.ndarray) -> np.ndarray:
        """Return forecasts. Each uses only the hours of the series before its origin.

        :param origins: numbers of known hours, at least 1, in one column.
        :param ahead: the hours to forecast, in one row: 0 is the first hour after the origin.
        :returns: a row for each origin and a column for each hour; NaN if too little is known.
        """


class Method(abc.ABC):
    """A method to forecast a series, an entry point of the namespace climate.forecasts.

    [forecast] method uses the name of the entry point. One instance serves all threads.
    """

    #: The number of hours of a series that the method needs.
    least_hours = 0

    @abc.abstractmethod
    def models(self, series: np.ndarray) -> Sequence[Model]:
        """Return the Models of a series. The forecast weighs them by their past errors.

        At least one model must have values for each origin.

        :param series: one number for each hour, at least one and at least `least_hours`.
        """
