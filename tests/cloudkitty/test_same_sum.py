# SPDX-License-Identifier: Apache-2.0
"""A real CloudKitty charges for a day of Climate's metrics what Climate's own statements do."""
import collections
import datetime
from decimal import Decimal
import os
import pathlib

import prometheus_client
import pytest
import sqlalchemy as sa
from support import builders

from climate.domain import prices
from climate.manager import metrics
from climate.manager.audit import schedule
from climate.manager.billing import biller
from climate.manager.events import clock_watch
from tools.cloudkitty import prometheus
from tools.cloudkitty import rating

METRIC = 'climate_allocated_resources'
DAY = datetime.timedelta(days=1)
MINUTE = datetime.timedelta(minutes=1)
BLUE, GREEN = 'blue', 'green'
RATE = '0.37'


@pytest.fixture
def kitty():
    """The programs of a CloudKitty, and an empty MariaDB for it: see target cloudkitty-test."""
    try:
        programs, url = os.environ['CLOUDKITTY_BIN'], os.environ['CLOUDKITTY_DATABASE']
    except KeyError as error:
        pytest.skip(f'{error} is not set; "make cloudkitty-test" sets it.')
    made = sa.create_engine(url)
    with made.begin() as connection:
        connection.exec_driver_sql('SET FOREIGN_KEY_CHECKS = 0')
        for table in sa.inspect(connection).get_table_names():
            connection.exec_driver_sql(f'DROP TABLE `{table}`')
    made.dispose()
    return pathlib.Path(programs), url


@pytest.fixture
def day():
    """The beginning of a day that is over, also for CloudKitty, which waits for two hours."""
    now = datetime.datetime.now(datetime.UTC)
    return (now - 2 * DAY).replace(hour=0, minute=0, second=0, microsecond=0)


def lived(manager, day):
    """Lease hosts for two projects for a day; yield (moment, the text of /metrics) by minute."""
    for project, hosts, first, last in (
            (BLUE, 2, 9 * 60, 17 * 60), (BLUE, 1, 20 * 60 + 13, 21 * 60), (GREEN, 1, 30, 47),
            (GREEN, 1, 12 * 60, 22 * 60)):
        manager.create(builders.a_lease(
            builders.hosts(hosts), start=day + first * MINUTE, end=day + last * MINUTE),
            builders.a_member(project, project))
    registry = prometheus_client.CollectorRegistry()
    registry.register(metrics.Collector(
        manager.core, manager.event_loop, schedule.AuditSchedule(manager.core, 'here'),
        clock_watch.ClockWatch(manager.core, 'here')))
    for minute in range(24 * 60):
        # Between two minutes, so that each sample stands for one of them.
        moment = day + minute * MINUTE + MINUTE / 2
        manager.run_until(moment)
        yield moment, prometheus_client.generate_latest(registry).decode()


def stated(manager, day):
    """{project: Decimal} of Climate's statements for that day, the only one with leases."""
    biller.Biller(manager.core).bill(day + DAY)
    found = collections.defaultdict(Decimal)
    for each in manager.client.list_statements(builders.an_admin(), prices.StatementQuery()):
        found[each.project_id] += Decimal(each.amount)
    return found


def test_cloudkitty_and_the_statements_charge_the_same_for_a_day(
        conf, database, tmp_path, kitty, day):
    manager = builders.Manager(conf, database, builders.Clock(day))
    manager.enrol(4)
    manager.client.create_price_book(builders.an_admin(), None, {
        'currency': 'EUR', 'rates': [{'rate': RATE}]})
    text = prometheus.openmetrics(lived(manager, day), [METRIC])
    manager.run_until(day + DAY)
    with prometheus.serving(tmp_path, text) as url:
        charged = rating.rated(tmp_path, *kitty, url, day, METRIC, [BLUE, GREEN],
                               {'pool': {'host': RATE}})
    expected = {BLUE: round((16 + Decimal(47) / 60) * Decimal(RATE), 2),
                GREEN: round((10 + Decimal(17) / 60) * Decimal(RATE), 2)}
    assert {project: round(amount, 2) for project, amount in charged.items()} == expected
    assert stated(manager, day) == expected
