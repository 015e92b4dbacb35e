# SPDX-License-Identifier: Apache-2.0
"""The method without further libraries: simple guesses, weighed by their past errors."""
from climate.forecasts import base
from climate.forecasts import guesses


class Simple(base.Method):
    """The last value, means, the last day and week, and corrections by the latest error."""

    def models(self, series):
        return guesses.simple(series)
