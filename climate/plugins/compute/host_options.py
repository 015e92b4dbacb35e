# SPDX-License-Identifier: Apache-2.0
"""The options of the type physical:host."""
from oslo_config import cfg

OPTIONS = (
    cfg.StrOpt('before_end', default='', choices=['', 'snapshot'],
               help='What happens to the servers on leased hosts shortly before the end of '
                    'a lease that asks for "default". snapshot: an image of each server is '
                    'made, and no server is deleted before its image is active, even at an '
                    'early end. '
                    'Empty: nothing.'),
    cfg.IntOpt('image_seconds', default=3600, min=0,
               help='How long the images of servers on leased hosts may take to become active, '
                    'in seconds. The time starts at before_end_lease, and again at the end '
                    'or at a change that removes hosts. 0: no limit.'),
    cfg.StrOpt('on_image_failure', default='keep', choices=['keep', 'delete'],
               help='What happens at the end to a server whose image is not active within '
                    'image_seconds, if the lease asks for "default". keep: the server is '
                    'stopped and stays, its host is kept out of use, and the lease is in error '
                    'until somebody deletes the server and the lease. delete: the server is '
                    'deleted, and the owner is warned.'),
    cfg.StrOpt('foreign_servers', default='keep', choices=['keep', 'delete'],
               help='What happens at the end of a lease to servers on its hosts that were not '
                    'booted with its reservation, such as servers that an administrator '
                    'forced there. keep: these servers stay, and their hosts are returned once '
                    'the servers are gone. delete: these servers are deleted, too.'),
)
