# SPDX-License-Identifier: Apache-2.0
"""A group of options of the configuration."""
import dataclasses

from oslo_config import cfg


@dataclasses.dataclass(frozen=True)
class Group:
    """The options of one group, in the order of the sample configuration.

    :ivar title: the line about the group in the sample configuration.
    """

    name: str
    title: str
    options: tuple

    def register(self, conf):
        """Register the group in `conf`."""
        # Each call needs a new OptGroup, because oslo.config stores values in the OptGroup.
        conf.register_group(self._group())
        conf.register_opts(self.options, group=self.name)

    def list_opts(self):
        """Return [(group, options)] for the sample configuration."""
        return [(self._group(), list(self.options))]

    def _group(self):
        return cfg.OptGroup(self.name, title=self.title)
