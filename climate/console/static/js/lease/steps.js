// SPDX-License-Identifier: Apache-2.0
// The dialog in which a lease goes on in steps, or stops that.

import {openForm} from '../dialog.js';
import {make} from '../dom.js';
import {t} from '../texts.js';
import {DurationField, durationNode} from '../time_fields.js';
import {exactDuration} from '../times.js';
import {change} from './changes.js';

const USUAL = '1d';

/**
 * Open the dialog.
 *
 * @param {object} lease - id, step (seconds, or null) and etag.
 */
export function openSteps({id, step, etag}) {
  const node = durationNode({name: 'while_free', label: t('lease.step'),
    value: step ? exactDuration(step) : USUAL});
  const field = new DurationField(node.querySelector('input'));
  openForm({
    title: t('lease.steps'), yes: t('dialog.save'),
    content: [make('p', {}, t('lease.steps_help')), node],
    act: async () => change(id, {while_free: (await field.value())?.seconds ?? 0}, etag),
    done: () => location.reload()});
}
