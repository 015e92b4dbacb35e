# SPDX-License-Identifier: Apache-2.0
"""The stack of a reservation as Heat shows it, and the changes of it that Climate begins."""
from climate import errors
from climate.domain import losses

_FATES = {'delete': losses.DELETED, 'suspend': losses.SUSPENDED}
_DELETE = 'delete stack'
_SUSPEND = 'suspend stack'
_RESUME = 'resume stack'
# How many failed parts an error names.
_MOST_NAMED = 3


class HeatStack:
    """The stack of a reservation.

    Climate changes the stack as its own service user. Heat then acts with the trust of the stack,
    so the change works even if the trust of the lease is no longer valid.

    :ivar seen: the Stack at the last `read`; None if Heat has no such stack.
    """

    def __init__(self, cloud, lease, reservation, name_or_id):
        self._cloud = cloud
        self._stacks = cloud.as_service().stacks
        self._project_id = lease.project_id
        self._reservation = reservation
        self._name_or_id = name_or_id
        self.read()

    def read(self):
        """Read the stack from Heat."""
        self.seen = self._stacks.find(self._project_id, self._name_or_id)

    def wait(self, what):
        """Raise StillBusy, so that Climate calls the plugin again, which reads the stack again."""
        raise errors.StillBusy.plain(
            'Heat', f'stack {self._name_or_id}: {what}', has_own_limit=True)

    def delete(self):
        """Begin to delete the stack."""
        self._announce(_DELETE)
        self._stacks.delete(self._project_id, self.seen)

    def resume(self):
        """Resume the stack; return once it is resumed.

        :raises StillBusy: it is being resumed.
        :raises CloudError: Heat could not resume it; Climate retries.
        """
        self._act('RESUME', _RESUME, self._stacks.resume)

    def bring(self, on_end):
        """Bring the stack to the state that `on_end` requires; return once it has that state.

        :raises StillBusy: it does not have that state yet.
        :raises CloudError: Heat could not change the stack; Climate retries.
        """
        if self.seen is None or on_end == 'leave':
            return
        if on_end == 'suspend':
            self._act('SUSPEND', _SUSPEND, self._stacks.suspend)
            return
        if self.seen.status == 'DELETE_IN_PROGRESS':
            self.wait(self.seen.status)
        if self.seen.status == 'DELETE_FAILED':
            why = self._why()
            self._stacks.delete(self._project_id, self.seen)
            raise errors.CloudError.plain('Heat', (
                f'stack {self.seen.name} could not be deleted, and Climate tries again: {why}'))
        self.delete()
        self.read()
        if self.seen is not None:
            self.wait('being deleted')

    def lost(self, on_end):
        """Return the Loss of the stack, if `bring` would delete or suspend it, in a list."""
        fate = _FATES.get(on_end)
        if fate is None or self.seen is None or (
                fate == losses.SUSPENDED and self.seen.status == 'SUSPEND_COMPLETE'):
            return []
        return [losses.Loss('stack', self.seen.id, self.seen.name, self._project_id, fate)]

    def _act(self, action, heading, change):
        """Carry out an action on the stack; return once it is complete.

        :raises StillBusy: the action is not complete yet.
        :raises CloudError: the last attempt failed; this call began another attempt.
        """
        stack = self.seen
        if stack.progress == 'IN_PROGRESS':
            self.wait(stack.status)
        if (stack.action, stack.progress) == (action, 'COMPLETE'):
            return
        failed = (stack.action, stack.progress) == (action, 'FAILED')
        if not failed:
            self._announce(heading)
        change(self._project_id, stack)
        if failed:
            raise errors.CloudError.plain('Heat', (
                f'stack {stack.name} is in the status {stack.status}, and Climate tries again: '
                f'{stack.reason}'))
        self.read()
        if self.seen is None or self.seen.status != f'{action}_COMPLETE':
            self.wait(f'{action} is under way')

    def _announce(self, heading):
        """Announce the next change of the stack in the history.

        :raises StillBusy: the entry is not written yet.
        """
        self._cloud.announce(heading, {
            self.seen.id: f'{self.seen.name} ({self.seen.id})'})

    def _why(self):
        """Return why parts of the stack could not be deleted, in Heat's words."""
        failed = [part for part in self._stacks.parts(self._project_id, self.seen)
                  if part.status.endswith('_FAILED')]
        reasons = [f'{part.name} ({part.kind}): {part.reason}' for part in failed[:_MOST_NAMED]]
        return '; '.join(reasons) or self.seen.reason
