# SPDX-License-Identifier: Apache-2.0
"""The texts in the request of a stack that may be passwords: the values of its parameters.

Heat repeats them in its messages. Other texts, such as names of types, are left readable.
"""
from climate import yaml_text
from climate.domain import leaves


def of(secrets):
    """Return the values of all parameters as a set of texts: those given, and all defaults.

    :param secrets: the secret fields of a request, {name: value}.
    """
    environment, template = _read(secrets.get('environment')), _read(secrets.get('template'))
    declared = template.get('parameters')
    defaults = [each.get('default') for each in (
        declared.values() if isinstance(declared, dict) else ()) if isinstance(each, dict)]
    return set(leaves.of([secrets.get('parameters'), environment.get('parameters'),
                          environment.get('parameter_defaults'), defaults]))


def _read(document):
    """Return an object, or a text in YAML, as a dict; {} if it is neither."""
    if isinstance(document, str):
        try:
            document = yaml_text.read(document)
        except ValueError:
            # Heat refuses it, too.
            return {}
    return document if isinstance(document, dict) else {}
