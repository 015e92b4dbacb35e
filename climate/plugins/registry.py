# SPDX-License-Identifier: Apache-2.0
"""The registry of enabled plugins. If one of them does not load, the daemon does not start."""
import dataclasses
import functools
from importlib import metadata

from oslo_config import cfg

from climate import errors
from climate import loading
from climate import schema_validation
from climate.conf import checking
from climate.domain import records
from climate.plugins import clearable
from climate.policies import resources as rules

NAMESPACE = 'climate.plugins'
_OPTION = '[DEFAULT] plugins'
# The fields of reservations of all types. No plugin's schema may have a field with these names.
_OF_ALL_TYPES = ('label', 'depends_on')


def load(names):
    """Load the named plugins; return {resource type: plugin class}, in the order of the names.

    :raises ConfigurationError: a plugin is missing or broken, or it is named or installed twice.
    """
    if not names:
        raise errors.ConfigurationError(f'{_OPTION} is empty. Name the types of resources that can '
                                        'be leased, such as physical:host.')
    if len(set(names)) != len(names):
        raise errors.ConfigurationError(f'{_OPTION}: a name is repeated: remove one.')
    return loading.load(NAMESPACE, names, _OPTION)


def _refuse_fields_of_all_types(classes):
    for resource_type, plugin in classes.items():
        for name in _OF_ALL_TYPES:
            if name in plugin.schema.get('properties', ()):
                raise errors.ConfigurationError(
                    f'{_OPTION}: the schema of {resource_type} has the property "{name}", which '
                    'all types have: give it another name.')


def _refuse_several_clearable(pools):
    names = sorted(name for name, pool in pools.items() if isinstance(pool, clearable.Clearable))
    if len(names) > 1:
        raise errors.ConfigurationError(f'{_OPTION}: only one pool may support host clearing, but '
                                        f'these do: {", ".join(names)}.')


def register_options(conf, classes):
    """Add each plugin's own options to `conf`, in a group with the name of its type.

    :raises WrongValue: an option has a value that it does not accept.
    """
    for resource_type, plugin in classes.items():
        if plugin.options:
            conf.register_opts(list(plugin.options), group=cfg.OptGroup(resource_type))
            checking.values(conf, [(resource_type, plugin.options)])


def services(classes):
    """Return {name of an adapter: types of the plugins that use it, sorted}.

    :param classes: {resource type: plugin class}.
    """
    users = {}
    for resource_type, plugin in classes.items():
        for user in (plugin, *plugin.pools):
            for name in user.services:
                users.setdefault(name, set()).add(resource_type)
    return {name: tuple(sorted(types)) for name, types in sorted(users.items())}


def pools_of(classes):
    """Return {name: Pool class} of the pools that plugins draw from.

    :param classes: {resource type: plugin class}.
    """
    return {pool.name: pool for plugin in classes.values() for pool in plugin.pools}


def views_of(pools):
    """Return {path: Pool class} of the pools that have a path of their own.

    :param pools: {name: Pool class}.
    """
    return {pool.view.path: pool for pool in pools.values() if pool.view is not None}


@functools.cache
def types_by_path():
    """Return {path: sorted types} of the views of every installed plugin, enabled or not."""
    types = {}
    # A plugin that is not enabled may be broken. Leave it out.
    for name, plugin in loading.load_usable(NAMESPACE).items():
        for path in views_of(pools_of({name: plugin})):
            types[path] = sorted([*types.get(path, ()), name])
    return types


def unknown_pool(name, known):
    """Return the error for an unknown pool; its message names the known pools."""
    return errors.UnknownPool(pool=str(name)[:80], enabled=', '.join(sorted(known)) or 'none')


class Registry:
    """The plugins and pools of one manager.

    :ivar services: {name of an adapter: types of the plugins that use it, sorted}.
    """

    def __init__(self, conf, classes=None):
        classes = classes if classes is not None else load(conf.plugins)
        _refuse_fields_of_all_types(classes)
        register_options(conf, classes)
        self.services = services(classes)
        self.plugins = {name: plugin(conf) for name, plugin in classes.items()}
        # Created once, because creating a validator takes longer than checking a request.
        self._validators = {name: schema_validation.validator(plugin.schema)
                            for name, plugin in classes.items()}
        self.pools = {name: pool(conf) for name, pool in pools_of(classes).items()}
        _refuse_several_clearable(self.pools)

    def plugin(self, resource_type):
        """Return the plugin of a type.

        :raises UnknownResourceType: the type is not enabled; the error names the enabled ones.
        """
        try:
            return self.plugins[resource_type]
        except (KeyError, TypeError):
            raise errors.UnknownResourceType(
                resource_type=str(resource_type)[:80],
                enabled=', '.join(sorted(self.plugins))) from None

    def needs_of(self, reservation):
        """Return the Needs of a reservation."""
        return self.plugin(reservation.resource_type).needs(reservation.request)

    def secrets_apart(self, reservation):
        """Return the Reservation with its secret fields in `secrets` instead of `request`."""
        names, request = self.plugin(reservation.resource_type).secret_fields, reservation.request
        return dataclasses.replace(
            reservation, secrets=records.Secrets({name: request[name] for name in sorted(names)
                                                  if request.get(name) is not None}),
            request={name: value for name, value in request.items() if name not in names})

    def pool(self, name):
        """Return the pool of that name.

        :raises UnknownPool: no enabled plugin uses such a pool; the error names the known pools.
        """
        try:
            return self.pools[name]
        except KeyError:
            raise unknown_pool(name, self.pools) from None

    def clearable_pool(self):
        """Return the pool whose resources can be cleared for a lease.

        :raises UnknownPool: no enabled plugin uses such a pool.
        """
        for pool in self.pools.values():
            if isinstance(pool, clearable.Clearable):
                return pool
        raise errors.UnknownPool(
            'No enabled plugin uses a pool whose resources can be cleared for a lease.')

    def is_clearable(self, name):
        """Return whether the resources of the pool of that name can be cleared for a lease."""
        return isinstance(self.pools.get(name), clearable.Clearable)

    def checked(self, resource_type, request):
        """Check a request against the schema of its plugin; return the request.

        :raises BadField: the request does not match the schema; the error names the field. If
            required fields are missing, the attribute `missing` of the error has their names.
        """
        plugin = self.plugin(resource_type)
        problem = min(schema_validation.problems(self._validators[resource_type], request),
                      key=lambda error: (error.message[:300], str(error.absolute_path)),
                      default=None)
        if problem is None:
            return request
        details = {}
        if problem.validator == 'required':
            details['missing'] = [name for name in problem.validator_value if name not in request]
        path = '.'.join(str(step) for step in problem.absolute_path)
        if problem.validator == 'additionalProperties' and not path:
            raise errors.BadField(field=resource_type, reason=(
                f'{problem.message[:300]}. Known are: {", ".join(plugin.schema["properties"])}.'))
        raise errors.BadField(field=f'{resource_type}{"." if path else ""}{path}',
                              reason=problem.message[:300] + '.', **details)


def list_opts():
    """Return [(group, options)] of every installed plugin, for the sample configuration."""
    return [(cfg.OptGroup(name), list(plugin.options))
            for name, plugin in sorted(_installed().items()) if plugin.options]


def list_rules():
    """Return the policy rules for the pools of every installed plugin, for the sample policy."""
    pools = pools_of(_installed())
    return rules.list_rules(pools, views_of(pools))


def own_types():
    """Return the names of the types whose plugins are part of Climate, sorted."""
    return sorted(point.name for point in metadata.entry_points(group=NAMESPACE)
                  if point.value.startswith('climate.'))


@functools.cache
def _installed():
    """Return {resource type: class} of every installed plugin.

    The result is cached, because loading the plugins takes 80 ms.
    """
    return loading.load(NAMESPACE, loading.installed(NAMESPACE), NAMESPACE)
