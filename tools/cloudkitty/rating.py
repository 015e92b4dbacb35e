# SPDX-License-Identifier: Apache-2.0
"""A CloudKitty that rates a past day, hour by hour, from what a Prometheus has of it."""
import collections
import datetime
import decimal
import json
import pathlib

import sqlalchemy as sa
import yaml

from tools.cloudkitty import programs

_HOUR = datetime.timedelta(hours=1)
_RULES = pathlib.Path(__file__).parent / 'inside' / 'rates.py'
_CONFIG = """\
[DEFAULT]
transport_url = fake:/
[database]
connection = {database}
[storage]
version = 1
backend = sqlalchemy
[collect]
collector = prometheus
metrics_conf = {folder}/metrics.yml
period = 3600
wait_periods = 1
scope_key = project_id
[fetcher]
backend = source
[fetcher_source]
sources = {scopes}
[collector_prometheus]
prometheus_url = {prometheus}/api/v1
[orchestrator]
coordination_url = file://{folder}/locks
max_workers = 1
max_workers_reprocessing = 0
"""


def rated(folder, kitty, database, prometheus, day, metric, projects, rates):
    """Rate a day with CloudKitty; return {project id: Decimal, the sum of its hours}.

    :param kitty: the folder with the programs of a virtualenv with CloudKitty.
    :param database: the URL of an empty MariaDB. (The migrations of CloudKitty 25 read, in another
        session, what they have just written: SQLite shows it to nobody before the commit.)
    :param day: the beginning of the day, in UTC, at least two hours past its end.
    :param metric: a gauge with the label project_id, collected each minute: how many resources are
        in use.
    :param projects: the ids of the projects that it rates.
    :param rates: {label of the gauge: {value: what a resource costs in an hour, as text}}.
    """
    (folder / 'metrics.yml').write_text(yaml.safe_dump({'metrics': {metric: {
        # Each sample stands for a minute. The mean of an hour would leave out the minutes without
        # a sample, in which nothing was in use.
        'unit': 'hour', 'groupby': sorted(rates), 'factor': '1/60',
        'extra_args': {'aggregation_method': 'sum'}}}}))
    config = folder / 'cloudkitty.conf'
    config.write_text(_CONFIG.format(
        folder=folder, database=database.replace('%', '%%'), scopes=','.join(projects),
        prometheus=prometheus))
    for name, *more in (('dbsync', 'upgrade'), ('storage-init',)):
        programs.done(folder, name, [kitty / f'cloudkitty-{name}', '--config-file', config, *more])
    (folder / 'rates.json').write_text(json.dumps({
        'rates': {metric: rates}, 'scopes': projects,
        'after': (day - _HOUR).isoformat()}))
    programs.done(folder, 'rates', [kitty / 'python', _RULES, config, folder / 'rates.json'])
    engine = sa.create_engine(database)
    last = day + 23 * _HOUR
    with programs.running(folder, 'processor', [
            kitty / 'cloudkitty-processor', '--config-file', config]) as wait:
        wait(lambda: _is_past(engine, projects, last))
    return _sums(engine, day)


def _is_past(engine, projects, hour):
    """Return whether the hours of all projects up to this one are rated."""
    with engine.connect() as connection:
        rows = connection.execute(sa.text(
            'SELECT last_processed_timestamp FROM cloudkitty_storage_states')).scalars().all()
    return len(rows) == len(projects) and min(rows) >= hour.replace(tzinfo=None)


def _sums(engine, day):
    found = collections.defaultdict(decimal.Decimal)
    with engine.connect() as connection:
        for project, rate in connection.execute(sa.text(
                'SELECT tenant_id, rate FROM rated_data_frames WHERE begin >= :day AND begin < :end'
        ), {'day': day.replace(tzinfo=None), 'end': (day + 24 * _HOUR).replace(tzinfo=None)}):
            found[project] += decimal.Decimal(rate)
    return dict(found)
