# SPDX-License-Identifier: Apache-2.0
"""The enabled plugins: loaded all, or the daemon stops and names the bad one."""
from importlib import metadata

import jsonschema
from oslo_config import cfg
from stevedore import named

from climate import errors

NAMESPACE = 'climate.plugins'


class Unusable(Exception):
    """A plugin of [DEFAULT] plugins cannot be used; says which and why."""


def load(names):
    """{resource type: plugin class} of the named plugins, in that order.

    :raises Unusable: one is missing, broken, or there twice.
    """
    def missing(absent):
        raise Unusable(f'[DEFAULT] plugins: not installed: {", ".join(sorted(absent))}.')

    def broken(_manager, entry_point, error):
        raise Unusable(f'[DEFAULT] plugins: {entry_point.name} does not load: {error}')

    if len(set(names)) != len(names):
        raise Unusable('[DEFAULT] plugins: a name stands there twice.')
    found = named.NamedExtensionManager(
        NAMESPACE, list(names), on_missing_entrypoints_callback=missing,
        on_load_failure_callback=broken)
    classes = {}
    for extension in found:
        if extension.name in classes:
            raise Unusable(f'[DEFAULT] plugins: {extension.name} is installed twice.')
        classes[extension.name] = extension.plugin
    return {name: classes[name] for name in names}


def register_options(conf, classes):
    """Add each plugin's own options to `conf`, in a group called as its type."""
    for resource_type, plugin in classes.items():
        if plugin.options:
            conf.register_opts(list(plugin.options), group=cfg.OptGroup(resource_type))


class Registry:
    """The plugins and pools of one manager."""

    def __init__(self, conf, classes=None):
        classes = classes if classes is not None else load(conf.plugins)
        register_options(conf, classes)
        self.plugins = {name: plugin(conf) for name, plugin in classes.items()}
        # Made once: to make one costs more than to check a request with it.
        self._validators = {name: jsonschema.Draft202012Validator(plugin.schema)
                            for name, plugin in classes.items()}
        self.pools = {pool.name: pool(conf)
                      for plugin in classes.values() for pool in plugin.pools}

    def plugin(self, resource_type):
        """The plugin of a type.

        :raises UnknownResourceType: it is not enabled; the error names those that are.
        """
        try:
            return self.plugins[resource_type]
        except (KeyError, TypeError):
            raise errors.UnknownResourceType(
                resource_type=str(resource_type)[:80],
                enabled=', '.join(sorted(self.plugins))) from None

    def pool(self, name):
        """The pool of that name.

        :raises NotFound: no enabled plugin draws from such a pool.
        """
        try:
            return self.pools[name]
        except KeyError:
            known = ', '.join(sorted(self.pools)) or 'none'
            raise errors.NotFound(f'There is no pool "{name}"; enabled are: {known}.') from None

    def checked(self, resource_type, request, lenient):
        """A request as its plugin's schema wants it.

        :raises BadField: it does not fit the schema; the error names the field.
        """
        plugin = self.plugin(resource_type)
        if lenient:
            request = plugin.lenient(request)
        found = self._validators[resource_type].iter_errors(request)
        problem = min(found, key=str, default=None)
        if problem is None:
            return request
        if problem.validator == 'required' and lenient:
            raise errors.MissingFields(fields=', '.join(
                name for name in problem.validator_value if name not in request))
        path = '.'.join(str(step) for step in problem.absolute_path)
        if problem.validator == 'additionalProperties' and not path:
            raise errors.BadField(field=resource_type, reason=(
                f'{problem.message[:300]}. Known are: {", ".join(plugin.schema["properties"])}.'))
        raise errors.BadField(field=f'{resource_type}{"." if path else ""}{path}',
                              reason=problem.message[:300] + '.')


def list_opts():
    """[(group, options)] of every installed plugin, for the sample configuration."""
    classes = {point.name: point.load()
               for point in metadata.entry_points(group=NAMESPACE)}
    return [(cfg.OptGroup(name), list(plugin.options))
            for name, plugin in sorted(classes.items()) if plugin.options]
