# SPDX-License-Identifier: Apache-2.0
"""The texts in the request of a stack that may be passwords: the values of its parameters.

They must be masked, because Heat repeats them in its messages.
"""
from climate import yaml_text
from climate.domain import values

_DEFAULT = 'default'


def of(secrets):
    """Return a set of texts: the values and defaults of all parameters, and all files.

    Defaults are also found in templates that Climate cannot parse but Heat accepts, such as
    templates with merge keys.

    :param secrets: the secret fields of a request, {name: value}.
    """
    environment, files = _read(secrets.get('environment')), secrets.get('files') or {}
    texts = set(values.texts_in([secrets.get('parameters'), environment.get('parameters'),
                                 environment.get('parameter_defaults'), files]))
    # Heat splits a parameter of the type comma_delimited_list.
    items = {item.strip() for text in texts for item in text.split(',')}
    return texts.union(items, *map(_defaults, [secrets.get('template'), *files.values()]))


def _defaults(template):
    """Return the defaults in a template, an object or a text, as a set of texts."""
    if isinstance(template, str):
        return set(yaml_text.scalars_of(template, _DEFAULT))
    declared = (template or {}).get('parameters')
    return set(values.texts_in([each.get(_DEFAULT) for each in (
        declared.values() if isinstance(declared, dict) else ()) if isinstance(each, dict)]))


def _read(document):
    """Return an object, or a text in YAML, as a dict; {} if it is neither."""
    if isinstance(document, str):
        try:
            document = yaml_text.read(document)
        except ValueError:
            # `resolve` refuses a request with this environment.
            return {}
    return document if isinstance(document, dict) else {}
