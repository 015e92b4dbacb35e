# SPDX-License-Identifier: Apache-2.0
"""The stack of a reservation as Heat shows it, and the changes of it that Climate begins."""
from climate import errors

_DELETE = 'delete stack'
_SUSPEND = 'suspend stack'
_RESUME = 'resume stack'
# How many failed parts an error names.
_FEW = 3


class Watched:
    """The stack of a reservation.

    Climate changes it as itself: Heat then acts with the trust that it keeps with the stack, also
    if that of the lease is dead.

    :ivar stack: the Stack as it was seen last; None if there is none.
    """

    def __init__(self, cloud, lease, reservation, name_or_id):
        self._cloud = cloud
        self._stacks = cloud.as_service().stacks
        self._project_id = lease.project_id
        self._reservation = reservation
        self._named = name_or_id
        self.look()

    def look(self):
        """Read the stack from Heat."""
        self.stack = self._stacks.find(self._project_id, self._named)

    def wait(self, what):
        """Ask for another call, in which the stack is looked at again.

        :raises StillBusy: always.
        """
        raise errors.StillBusy.plain('Heat', f'stack {self._named}: {what}', has_own_limit=True)

    def delete(self):
        """Begin to delete the stack."""
        self._tell(_DELETE)
        self._stacks.delete(self._project_id, self.stack)

    def resume(self):
        """Resume the stack; return if it is awake.

        :raises StillBusy: it is being resumed.
        :raises CloudError: Heat could not resume it; it is tried again.
        """
        self._act('RESUME', _RESUME, self._stacks.resume)

    def bring(self, on_end):
        """Bring the stack to the state that `on_end` asks for; return if it is there.

        :raises StillBusy: it is not there yet.
        :raises CloudError: Heat could not bring it there; it is tried again.
        """
        if self.stack is None or on_end == 'leave':
            return
        if on_end == 'suspend':
            self._act('SUSPEND', _SUSPEND, self._stacks.suspend)
            return
        if self.stack.status == 'DELETE_IN_PROGRESS':
            self.wait(self.stack.status)
        if self.stack.status == 'DELETE_FAILED':
            why = self._why()
            self._stacks.delete(self._project_id, self.stack)
            raise errors.CloudError.plain('Heat', (
                f'stack {self.stack.name} could not be deleted, and Climate tries again: {why}'))
        self.delete()
        self.look()
        if self.stack is not None:
            self.wait('being deleted')

    def _act(self, action, heading, change):
        """Bring the stack to the end of an action; return if it is there.

        :raises StillBusy: it is not there yet.
        :raises CloudError: the action failed; it was begun again.
        """
        stack = self.stack
        if stack.progress == 'IN_PROGRESS':
            self.wait(stack.status)
        if (stack.action, stack.progress) == (action, 'COMPLETE'):
            return
        failed = (stack.action, stack.progress) == (action, 'FAILED')
        if not failed:
            self._tell(heading)
        change(self._project_id, stack)
        if failed:
            raise errors.CloudError.plain('Heat', (
                f'stack {stack.name} is in the status {stack.status}, and Climate tries again: '
                f'{stack.reason}'))
        self.look()
        if self.stack is None or self.stack.status != f'{action}_COMPLETE':
            self.wait(f'{action} is under way')

    def _tell(self, heading):
        """Write the change into the history first.

        :raises StillBusy: it is written after this call.
        """
        self._cloud.announce(heading, {
            self.stack.id: f'{self.stack.name} ({self.stack.id})'})

    def _why(self):
        """Return why the stack could not be deleted, by its parts, in Heat's words."""
        failed = [each for each in self._stacks.parts(self._project_id, self.stack)
                  if each.status.endswith('_FAILED')]
        told = [f'{each.name} ({each.kind}): {each.reason}' for each in failed[:_FEW]]
        return '; '.join(told) or self.stack.reason
