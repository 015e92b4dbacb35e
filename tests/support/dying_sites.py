# SPDX-License-Identifier: Apache-2.0
"""A database, a cloud and an enforcement service, on which managers die and follow each other."""
from climate.db import leases
from climate.manager.leases import enforcement_reports
from support import builders
from support import crashing
from support import ledger_driver


class DyingPoints(crashing.Points):
    """Points after which the process stays dead until `begin`."""

    def reach(self, *_where):
        self.count += 1
        if self.crash_at and self.count >= self.crash_at:
            raise crashing.Crash


class Site:
    """A database and a service, on which managers come and go."""

    def __init__(self, conf, path, charges_when_asked):
        self.points = DyingPoints()
        self.clock = builders.Clock()
        self.driver = ledger_driver.LedgerDriver(conf, charges_when_asked)
        self.driver.reach = self.points.reach
        self._conf, self._path = conf, path
        self.manager = None
        self.start()

    def start(self):
        """Start another manager."""
        self.points.begin(0)
        if self.manager is not None:
            self.manager.database.dispose()
        database = crashing.Fragile(f'sqlite:///{self._path}', self.points)
        cloud = self.manager.cloud if self.manager is not None else None
        self.manager = builders.Manager(self._conf, database, self.clock, cloud, driver=self.driver)
        self.manager.cloud.faults.on_point = self.points.reach

    def report(self):
        """Run the manager and its reports until nothing is due."""
        reports = enforcement_reports.EnforcementReports(self.manager.core)
        for _ in range(4):
            self.manager.run()
            reports.step(self.clock())
            self.clock.advance(builders.minutes(1))

    def lease(self, lease_id):
        """Return a stored Lease, or None."""
        with self.manager.database.reader() as connection:
            return next(iter(leases.mentioned(connection, {lease_id})), None)
