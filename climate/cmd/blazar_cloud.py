# SPDX-License-Identifier: Apache-2.0
"""The comparison of an import from Blazar with the cloud."""
import dataclasses

from climate import cloud as clouds
from climate import errors
from climate.db.blazar import cloud_differences


def compared(conf, registry, converted):
    """Return a Conversion with a Problem for each trust and host that the cloud does not have.

    If the cloud cannot be asked, a Problem says so.

    :param registry: the Registry of the enabled plugins.
    """
    checks = (('trusts', cloud_differences.missing_trusts, _trusts),
              ('hosts', cloud_differences.missing_hosts, _hosts))
    found = []
    for what, missing, read in checks:
        try:
            services = clouds.build(conf, registry.services).as_service()
            found += missing(converted, read(services))
        except (errors.ClimateError, errors.ConfigurationError) as error:
            found.append(cloud_differences.unchecked(what, error))
    return dataclasses.replace(converted, problems=(*converted.problems, *found))


def _trusts(services):
    return {trust.id for trust in services.keystone.trusts()}


def _hosts(services):
    return {hypervisor.name for hypervisor in services.nova.hypervisors()}
