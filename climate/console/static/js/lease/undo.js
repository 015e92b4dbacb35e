// SPDX-License-Identifier: Apache-2.0
// Undo of the last change of a lease: its former name or its former end is restored.

import {tell} from '../dialog.js';
import {element, make} from '../dom.js';
import {t} from '../texts.js';
import {seconds, words} from '../times.js';
import {change} from './changes.js';

const KEY = 'climate.undo';
// The page is loaded again when the change takes effect; after this time it offers nothing.
const OFFERED_MS = 60_000;

/**
 * Make a change that the page of the lease then offers to undo.
 *
 * @param {string} id - of the lease.
 * @param {object} former - the body of PUT /v1/leases/{id} that restores what is changed.
 * @param {Promise<?object>} changed - the change; null: the user did not go on.
 */
export async function undoable(id, former, changed) {
  const lease = await changed;
  if (lease !== null) {
    const [field] = Object.keys(former);
    keep({id, former, now: lease[field], at: Date.now()});
  }
  return lease;
}

/** Keep what can be undone, for this window only; null: nothing. A page works without storage. */
function keep(last) {
  try {
    sessionStorage.setItem(KEY, JSON.stringify(last));
  } catch { /* The change is made, but not offered for undoing. */ }
}

function kept() {
  try {
    return JSON.parse(sessionStorage.getItem(KEY)) ?? {};
  } catch {
    return {};
  }
}

/**
 * Offer to undo the change that has just been made of a lease, unless the lease has changed since.
 *
 * @param {object} lease - id, name and end as the page shows them, and etag.
 */
export function offerUndo({id, name, end, etag}) {
  const {id: changed, former, now, at} = kept();
  if (changed !== id || Date.now() - at > OFFERED_MS) return;
  if (now !== ('name' in former ? name : end)) return;
  const undo = async () => {
    try {
      const undone = await change(id, former, etag,
        {question: t('lease.undo_question'), yes: t('lease.undo')});
      if (undone === null) return;
      keep(null);
      location.reload();
    } catch (error) {
      tell(error.message);
    }
  };
  element('messages').replaceChildren(
    'name' in former ? t('lease.was_named', {name: former.name})
      : t('lease.ended_at_first', {end: words(seconds(former.end))}),
    ' ', make('button', {type: 'button', onclick: undo}, t('lease.undo')));
}
