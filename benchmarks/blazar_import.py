# SPDX-License-Identifier: Apache-2.0
"""The duration and memory of an import from Blazar: python -m benchmarks.blazar_import COUNT URL.

COUNT pending leases are imported to the database of Climate at URL, whose contents are dropped, and
then imported a second time. An import of 100,000 leases takes at most 5 minutes, a second one at
most one.
"""
import datetime
import os
import pathlib
import sys
import tempfile
import time

from oslo_config import cfg
from support import blazar_database
from support import blazar_growth
from support import builders

from benchmarks import peak_memory
from climate import conf as configuration
from climate.db import engine
from climate.db import migrate
from climate.db.blazar import conversion
from climate.db.blazar import importing
from climate.db.blazar import source
from climate.plugins import registry

_NOW = datetime.datetime(2026, 11, 26, 15, tzinfo=datetime.UTC)
_TYPES = ('physical:host', 'virtual:instance', 'flavor:instance', 'virtual:floatingip')


def main(count, url):
    """Measure two imports and print the results."""
    database = engine.Database(url)
    builders.drop_everything(database)
    migrate.upgrade(database)
    conf = configuration.register(cfg.ConfigOpts())
    conf([], project='climate', default_config_files=[], default_config_dirs=[])
    plugins = registry.Registry(conf, registry.load(_TYPES))
    with tempfile.TemporaryDirectory() as folder:
        blazar = blazar_database.BlazarDatabase(pathlib.Path(folder))
        blazar_growth.grow(blazar, count)
        for which in ('first', 'second'):
            peak_memory.anew()
            begun, used = time.perf_counter(), time.process_time()
            read = source.read(blazar.url)
            counts = importing.write(database, conversion.convert(read, plugins, _NOW), _NOW)
            print(f'{which} import to {database.dialect}: {time.perf_counter() - begun:.0f} s, '
                  f'{time.process_time() - used:.0f} s of processor, {peak_memory.peak():.0f} MB, '
                  f'load {os.getloadavg()[0]:.1f}; {counts}', flush=True)
    database.dispose()


if __name__ == '__main__':
    main(int(sys.argv[1]), sys.argv[2])
