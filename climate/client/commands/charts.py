# SPDX-License-Identifier: Apache-2.0
"""Charts of figures: sparklines for terminals, and pictures that matplotlib draws."""
from collections.abc import Mapping
from collections.abc import Sequence
import datetime
import importlib
import itertools
import pathlib
import typing

from cliff import columns

from climate import version
from climate.client import errors
from climate.client import status_words
from climate.client import times

_BLOCKS = '▁▂▃▄▅▆▇█'
#: The greatest width of a sparkline.
WIDTH = 30
_FORMATS = ('.svg', '.png', '.pdf')
_LINES = ('capacity', 'allocated', 'occupied', 'out_of_order', 'asleep')
FIGURES = ('allocated', 'occupied', 'idle', 'refused')


def sparkline(values: Sequence[float | None], most: float | None = None,
              width: int = WIDTH) -> str:
    """Draw values as blocks of different heights; an unknown value is a space.

    :param most: the value of the highest block; None: the highest value.
    :param width: the most blocks, to which values are averaged.
    """
    shown = _averaged(values, width)
    top = most or max((value for value in shown if value is not None), default=0)
    return ''.join(' ' if value is None else _BLOCKS[
        min(len(_BLOCKS) - 1, int(value / top * len(_BLOCKS)) if top else 0)] for value in shown)


class Sparkline(columns.FormattableColumn[typing.Any]):
    """A column of sparklines, which are averaged to fewer blocks in a narrow table.

    :param most: the value of the highest block; None: the highest value.
    """

    def __init__(self, value: Sequence[float | None], most: float | None = None) -> None:
        super().__init__(value)
        self._most = most

    def human_readable(self) -> str:
        return self.narrowed(WIDTH)

    def machine_readable(self) -> str:
        return self.human_readable()

    def narrowed(self, width: int) -> str:
        """Return the sparkline with at most `width` blocks."""
        return sparkline(self._value, self._most, width)


def check(path: str) -> None:
    """Raise an error unless a picture can be drawn into a file of this name.

    :raises BadValue: its ending is unknown.
    :raises NotConfigured: matplotlib is not installed.
    """
    if pathlib.Path(path).suffix.lower() not in _FORMATS:
        raise errors.BadValue(f'--plot: "{path}" does not end in {", ".join(_FORMATS)}.')
    try:
        importlib.import_module('matplotlib')
    except ImportError as error:
        raise errors.NotConfigured(
            '--plot draws with matplotlib, which is not installed: '
            f"python3 -m pip install '{version.DISTRIBUTION}[plot]'.") from error


def plot_pools(path: str, pools: Sequence[Mapping[str, typing.Any]]) -> None:
    """Draw the utilisation of each pool over time into a file."""
    figure, axes = _axes(len(pools))
    now = times.utcnow()
    for axis, pool in zip(axes, pools, strict=True):
        steps = pool['steps']
        edges = [times.moment(step['start'], now) for step in steps] + [
            times.moment(step['end'], now) for step in steps[-1:]]
        for name in _LINES:
            values = [step[name] for step in steps]
            known = [value for value in values if value is not None]
            if name == 'capacity' or any(known):
                axis.stairs([float('nan') if value is None else value for value in values],
                            edges, label=status_words.of_resource(name), baseline=None)
        axis.set_ylim(bottom=0)
        axis.set_title(pool['pool'])
        axis.set_ylabel('resources')
        axis.legend(loc='upper left', fontsize='small')
    figure.autofmt_xdate()
    _save(figure, path)


def plot_forecast(path: str, forecast: Mapping[str, typing.Any]) -> None:
    """Draw a forecast, with its bands if it has any, into a file."""
    figure, [axis] = _axes(1, 4.0)
    now = times.utcnow()
    starts = [times.moment(hour['start'], now) for hour in forecast['hours']]
    edges = [*starts, starts[-1] + datetime.timedelta(hours=1)]
    for percent, shade in ((95, 0.15), (80, 0.3)):
        low, high = ([hour[f'{end}{percent}'] for hour in forecast['hours']]
                     for end in ('low', 'high'))
        if None not in low:
            axis.stairs(high, edges, baseline=low, fill=True, alpha=shade, color='tab:blue',
                        label=f'{percent} % of the hours')
    for name in ('expected', 'allocated'):
        axis.stairs([hour[name] for hour in forecast['hours']], edges, label=name, baseline=None)
    axis.axhline(forecast['capacity'], color='tab:red', linestyle='--', label='capacity')
    axis.set_ylim(bottom=0)
    axis.set_title(forecast['pool'])
    axis.set_ylabel('resources')
    axis.legend(loc='center left', bbox_to_anchor=(1, 0.5), fontsize='small')
    figure.autofmt_xdate()
    _save(figure, path)


def plot_groups(path: str, groups: Sequence[tuple[str, Mapping[str, typing.Any]]]) -> None:
    """Draw the resource-hours of each group into a file: a bar for each figure.

    :param groups: pairs (name, group of a usage report).
    """
    figure, [axis] = _axes(1, max(4.0, 0.5 * len(groups)))
    height = 0.8 / len(FIGURES)
    for number, name in enumerate(FIGURES):
        axis.barh([place + number * height for place in range(len(groups))],
                  [group[name]['resource_hours'] for _, group in groups], height=height,
                  label=name)
    axis.set_yticks([place + 0.4 - height / 2 for place in range(len(groups))],
                    [name for name, _ in groups])
    axis.invert_yaxis()
    axis.set_xlabel('resource-hours')
    axis.legend(fontsize='small')
    _save(figure, path)


def _axes(count: int, inches: float = 3.0) -> tuple[typing.Any, list[typing.Any]]:
    # The module figure draws without a window system, and without the state of pyplot.
    figures = importlib.import_module('matplotlib.figure')
    figure = figures.Figure(figsize=(10, inches * max(count, 1)), layout='constrained')
    return figure, [*figure.subplots(max(count, 1), 1, squeeze=False)[:, 0]]


def _save(figure: typing.Any, path: str) -> None:
    try:
        figure.savefig(path)
    except OSError as error:
        raise errors.ClientError(f'--plot: {path}: {error.strerror}.') from error


def _averaged(values: Sequence[float | None], width: int) -> list[float | None]:
    if len(values) <= width:
        return [*values]
    edges = [place * len(values) // width for place in range(width + 1)]
    means: list[float | None] = []
    for begin, end in itertools.pairwise(edges):
        known = [value for value in values[begin:end] if value is not None]
        means.append(sum(known) / len(known) if known else None)
    return means
