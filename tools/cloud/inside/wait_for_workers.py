# SPDX-License-Identifier: Apache-2.0
"""Wait for what is behind the APIs: wait_for_workers.py CLOUDS_YAML RABBIT SECONDS POOLS QUEUE...

An API answers before its workers do. Each QUEUE must have a consumer, and Cinder's scheduler must
know this number of POOLS: until then new volumes go to "error".
"""
import sys
import time
from urllib import parse

import amqp
import openstack


def main(clouds, rabbit, seconds, pools, *queues):
    deadline = time.monotonic() + float(seconds)
    for queue in queues:
        wait(lambda queue=queue: consumers(rabbit, queue) > 0, f'a worker at {queue}', deadline)
    if int(pools):
        admin = openstack.config.OpenStackConfig(config_files=[clouds]).get_one('admin')
        storage = openstack.connection.Connection(config=admin).block_storage
        wait(lambda: len(list(storage.backend_pools())) >= int(pools), 'pools of Cinder', deadline)


def wait(ready, what, deadline):
    while not ready():
        if time.monotonic() > deadline:
            sys.exit(f'waited without success for {what}')
        time.sleep(0.3)


def consumers(rabbit, queue):
    """Return the number of consumers of a queue; 0 also if there is no such queue."""
    url = parse.urlsplit(rabbit)
    with amqp.Connection(host=f'{url.hostname}:{url.port}', userid=url.username,
                         password=url.password) as connection:
        try:
            return connection.channel().queue_declare(queue, passive=True).consumer_count
        except amqp.NotFound:
            return 0


if __name__ == '__main__':
    main(*sys.argv[1:])
