// SPDX-License-Identifier: Apache-2.0
// The question before objects of the cloud are deleted or stopped, or a late cancellation costs.

import {ask} from '../dialog.js';
import {make} from '../dom.js';
import {t} from '../texts.js';
import {words} from '../times.js';

const MOST = 50;
const UNREACHABLE = [502, 503, 504];
// The keys of the texts above a list: without and with a common moment, in place of the list, and
// why there is no list.
const HEADS = {now: 'losses.now', then: 'losses.then', unknown: 'losses.unknown',
  why: 'losses.outdated'};

/** Return one object and what happens to it, as a list item. */
function item(loss) {
  const key = `losses.kind.${loss.kind}`;
  const kind = t(key) === key ? loss.kind : t(key);
  const called = loss.id ? `${kind} ${loss.name || loss.id}` : t('losses.of_others', {kind});
  const where = loss.resource ? ` ${t('losses.on', {resource: loss.resource})}` : '';
  const fate = t(loss.saved ? 'losses.saved' : `losses.fate.${loss.fate}`);
  return make('li', {title: loss.id}, make('strong', {}, called), `${where}: ${fate}`);
}

/** Return the list of the objects that are lost; null if there are none. */
function listed(losses, heads) {
  if (!losses.length) return null;
  const moments = new Set(losses.map((loss) => loss.at));
  const [at] = moments;
  const count = losses.length;
  const head = moments.size === 1 && at
    ? t(heads.then, {count, at: words(Date.parse(at) / 1000)}) : t(heads.now, {count});
  return make('div', {class: 'losses'}, make('p', {}, head),
    make('ul', {}, ...losses.slice(0, MOST).map(item),
      count > MOST ? make('li', {}, t('losses.more', {count: count - MOST})) : ''));
}

/** Return the price of a late cancellation in a paragraph; null if it costs nothing. */
function cost(lateCancel) {
  if (!lateCancel) return null;
  const {amount, currency, lines} = lateCancel;
  const percent = [...new Set(lines.map((line) => line.percent))].join(', ');
  return make('p', {class: 'losses'}, t('losses.late_cancel', {amount, currency, percent}));
}

/** Return what a dry run says is lost and costs, or why it is not known, as an element or null. */
async function details(read, heads) {
  let why = t(heads.why);
  try {
    const {body: {losses, late_cancel: lateCancel}} = await read();
    if (losses) {
      const found = [cost(lateCancel), listed(losses, heads)].filter(Boolean);
      return found.length ? make('div', {}, ...found) : null;
    }
  } catch (error) {
    if (!UNREACHABLE.includes(error.status)) throw error;
    why = error.message;
  }
  return make('p', {class: 'losses'}, t(heads.unknown, {why}));
}

/**
 * Ask before objects are lost.
 *
 * @param {Function} read - sends the dry run; returns the answer, whose body has "losses".
 * @param {object} asked - question; yes: the word on the button; always: ask in any case;
 *   heads: the keys of the texts above the list, as HEADS has them.
 * @returns {Promise<boolean>} whether to go on.
 * @throws {Problem} if the dry run is refused.
 */
export async function confirmed(read, {question, yes, always = false, heads = HEADS} = {}) {
  const found = await details(read, heads);
  if (!found && !always) return true;
  return ask(question ?? t('losses.question'), {
    yes: yes ?? t('losses.go_on'), danger: true, details: found});
}
