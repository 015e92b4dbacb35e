# SPDX-License-Identifier: Apache-2.0
"""A stand-in for the parts of Nova in which the scheduler filter and the WSGI filter run."""
import contextlib
import dataclasses
import importlib
import sys
import types

from oslo_config import cfg

_MODULES = ('nova', 'nova.conf', 'nova.scheduler', 'nova.scheduler.filters',
            'nova.scheduler.utils')


class Fields:
    """One of Nova's objects, of which a field may not be set: here it is None then."""

    def obj_attr_is_set(self, name):
        return getattr(self, name) is not None


@dataclasses.dataclass
class Flavor(Fields):
    extra_specs: dict | None
    vcpus: int | None = None
    memory_mb: int | None = None
    root_gb: int | None = None
    ephemeral_gb: int | None = None
    swap: int | None = None


@dataclasses.dataclass
class Destination(Fields):
    host: str | None = None
    cell: object = None


@dataclasses.dataclass
class Request(Fields):
    hints: dict = dataclasses.field(default_factory=dict)
    project_id: str = 'me'
    flavor: Flavor = dataclasses.field(default_factory=lambda: Flavor({}))
    instance_uuid: str | None = None
    requested_destination: Destination | None = None

    def get_scheduler_hint(self, name, default=None):
        value = self.hints.get(name, default)
        return value[0] if isinstance(value, list) and len(value) == 1 else value


@dataclasses.dataclass
class Aggregate:
    name: str
    metadata: dict

    @property
    def availability_zone(self):
        return self.metadata.get('availability_zone')


@dataclasses.dataclass
class Host:
    host: str
    aggregates: list


def scheduler(*files):
    """The class ClimateFilter in a Nova that reads these files, and Nova's conf."""
    return _inside('climate.nova.filter', 'ClimateFilter', files)


def api(*files):
    """The paste factory of the WSGI filter in a Nova that reads these files, and Nova's conf."""
    return _inside('climate.nova.middleware', 'filter_factory', files)


@contextlib.contextmanager
def _inside(name, wanted, files):
    conf = cfg.ConfigOpts()
    conf([], default_config_files=[str(path) for path in files])
    modules = {each: types.ModuleType(each) for each in _MODULES}
    modules['nova'].conf = modules['nova.conf']
    modules['nova.conf'].CONF = conf
    modules['nova.scheduler'].filters = modules['nova.scheduler.filters']
    modules['nova.scheduler'].utils = modules['nova.scheduler.utils']
    modules['nova.scheduler.filters'].BaseHostFilter = type('BaseHostFilter', (), {})
    modules['nova.scheduler.utils'].request_is_rebuild = (
        lambda request: request.hints.get('_nova_check_type') == ['rebuild'])
    before = {each: sys.modules.get(each) for each in _MODULES}
    sys.modules.update(modules)
    sys.modules.pop(name, None)
    try:
        yield getattr(importlib.import_module(name), wanted), conf
    finally:
        sys.modules.pop(name, None)
        for each, module in before.items():
            sys.modules.pop(each, None)
            if module is not None:
                sys.modules[each] = module
