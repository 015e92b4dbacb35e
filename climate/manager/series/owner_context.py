# SPDX-License-Identifier: Apache-2.0
"""The identity of the owner of a series, for work that no request of the owner started."""
from climate import context


def of(core, series):
    """Return a RequestContext of the owner with a token from the trust of a series.

    :raises TrustDead: the series has no trust, or Keystone issues no token for it any more.
    """
    token = core.cloud.as_user(series.trust_id).keystone.own_token()
    roles = core.cloud.as_service().keystone.roles_of_trust(series.trust_id)
    return context.RequestContext(
        user_id=series.user_id, project_id=series.project_id, roles=sorted(roles),
        auth_token=token, trust_id=series.trust_id, overwrite=False)


def acting(core, series, caller):
    """Return the RequestContext with which a lease of a series is created or previewed.

    Another member of the project, or an administrator, may change a series. Its leases still belong
    to the owner of the series, whose limits and trust count.

    :param caller: the RequestContext of a request, or None.
    :raises TrustDead: as `of`.
    """
    if caller is not None and (caller.user_id, caller.project_id) == (
            series.user_id, series.project_id):
        return caller
    return of(core, series)


def without_token(series):
    """Return a RequestContext of the owner that calls no service of the cloud."""
    return context.RequestContext(user_id=series.user_id, project_id=series.project_id,
                                  overwrite=False)
