# SPDX-License-Identifier: Apache-2.0
"""The server of /metrics, and the check of its options."""
import socket
import ssl

import prometheus_client

from climate import errors
from climate.manager import metrics


def check(conf):
    """Check the TLS options of /metrics, if it is served.

    :raises ConfigurationError: a certificate is missing or cannot be read.
    """
    if not conf.manager.metrics_port:
        return
    certificate, key, authority = _files(conf.manager)
    # With only a certificate or only a key, /metrics would be served without TLS.
    if (certificate is None) != (key is None) or (authority and not certificate):
        raise errors.ConfigurationError(
            '[manager] metrics_cert_file and metrics_key_file must both be set, or none of the '
            'metrics_*_file options.')
    if certificate is None:
        return
    try:
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=authority)
        context.load_cert_chain(certificate, key)
    except OSError as error:
        raise errors.ConfigurationError(
            '[manager] metrics_cert_file, metrics_key_file or metrics_client_ca_file cannot be '
            f'used: {error}.') from error


def check_address(conf):
    """Check that this manager can listen on [manager] metrics_host and metrics_port.

    :raises ConfigurationError: another program listens there, or this machine does not have the
        address.
    """
    if not conf.manager.metrics_port:
        return
    try:
        [(family, *_, address), *_] = socket.getaddrinfo(
            conf.manager.metrics_host, conf.manager.metrics_port, type=socket.SOCK_STREAM,
            flags=socket.AI_PASSIVE)
        with socket.socket(family) as listener:
            # Like the server of /metrics, ignore connections that were just closed.
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(address)
    except OSError as error:
        raise _cannot_listen(conf.manager, error) from error


def _cannot_listen(conf, error):
    return errors.ConfigurationError(
        '[manager] metrics_host and metrics_port: the manager cannot listen on '
        f'{conf.metrics_host}:{conf.metrics_port}: {error.strerror}. Is another manager running '
        'there? Give each manager of a machine another [manager] metrics_port.')


def serve(core, event_loop, audit_schedule, clock_watch, deliverers=()):
    """Serve /metrics on [manager] metrics_port; return the server, or None if the port is 0.

    :raises ConfigurationError: the manager cannot listen on that port.
    """
    conf = core.conf.manager
    if not conf.metrics_port:
        return None
    collector = metrics.Collector(core, event_loop, audit_schedule, clock_watch, deliverers)
    certificate, key, authority = _files(conf)
    try:
        server, _ = prometheus_client.start_http_server(
            conf.metrics_port, addr=conf.metrics_host, registry=metrics.registry_of(collector),
            certfile=certificate, keyfile=key, client_cafile=authority,
            client_auth_required=authority is not None)
    except OSError as error:
        raise _cannot_listen(conf, error) from error
    return server


def _files(conf):
    """Return (certificate, key, CA of the clients) as file names; None for one that is not set."""
    return (conf.metrics_cert_file or None, conf.metrics_key_file or None,
            conf.metrics_client_ca_file or None)
