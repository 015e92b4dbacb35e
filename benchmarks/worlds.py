# SPDX-License-Identifier: Apache-2.0
"""The surroundings of benchmarks: an emptied database of each kind, a manager's configuration."""
import contextlib
import os
import tempfile

from oslo_config import cfg
import oslo_messaging as messaging
import sqlalchemy as sa
from support import builders

from climate import conf as configuration
from climate.db import engine
from climate.db import migrate
from climate.plugins import registry

_SERVER = 'CLIMATE_TEST_DATABASE'
FILE, SERVER = 'file', 'server'


def kinds():
    """The kinds of databases there are: a file of SQLite, and the one that is named, if any.

    CLIMATE_TEST_DATABASE names it by its SQLAlchemy URL. What is in it goes.
    """
    return (FILE, SERVER) if _SERVER in os.environ else (FILE,)


def kinds_in(form):
    """Return the kinds of databases, or only the last one if all have a few minutes."""
    return kinds()[-1:] if form == 'bench' else kinds()


@contextlib.contextmanager
def emptied(kind=None, apart=None):
    """A Database of that kind with Climate's tables and nothing in them.

    :param kind: of `kinds`; the last of them unless said.
    :param apart: a name, where several are wanted at once: on PostgreSQL a schema of its own.
    """
    with tempfile.TemporaryDirectory() as folder:
        url = sa.make_url(os.environ[_SERVER] if (kind or kinds()[-1]) == SERVER
                          else f'sqlite:///{folder}/climate.sqlite')
        schema = apart if url.get_backend_name() == 'postgresql' else None
        with _schema(url, schema) if schema else contextlib.nullcontext(url) as place:
            database = engine.Database(place)
            if schema or database.dialect == 'sqlite':
                migrate.upgrade(database)
            else:
                builders.clean(database)
            yield database
            database.dispose()


@contextlib.contextmanager
def _schema(url, name):
    """The URL of an empty schema of a PostgreSQL, which goes at the end."""
    outside = sa.create_engine(url, isolation_level='AUTOCOMMIT')
    drop = f'DROP SCHEMA IF EXISTS {name} CASCADE'
    with outside.connect() as connection:
        connection.exec_driver_sql(drop)
        connection.exec_driver_sql(f'CREATE SCHEMA {name}')
    try:
        yield url.update_query_dict({'options': f'-csearch_path={name}'})
    finally:
        with outside.connect() as connection:
            connection.exec_driver_sql(drop)
        outside.dispose()


def analyzed(database):
    """Update the statistics of PostgreSQL, as it does by itself after a while."""
    if database.dialect == 'postgresql':
        with database.engine.connect() as connection:
            connection.execution_options(isolation_level='AUTOCOMMIT').exec_driver_sql('ANALYZE')


def configured(hosts=150, plugins=('physical:host',)):
    """The options of a manager on a simulated cloud that takes no time."""
    conf = configuration.register(cfg.ConfigOpts())
    registry.register_options(conf, registry.load(list(plugins)))
    conf([], project='climate', default_config_files=[], default_config_dirs=[])
    conf.set_override('plugins', list(plugins))
    conf.set_override('driver', 'simulated', group='cloud')
    conf.set_override('hosts', hosts, group='simulated')
    conf.set_override('minutes_before_end_lease', 0, group='manager')
    messaging.get_notification_transport(conf, url='fake:/')  # It registers the options.
    conf.register_opts([], group='oslo_messaging_notifications')
    return conf
