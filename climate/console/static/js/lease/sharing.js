// SPDX-License-Identifier: Apache-2.0
// The shares of a lease: the dialog that makes one, and the questions before one ends.

import {openForm} from '../dialog.js';
import {make} from '../dom.js';
import {call} from '../rest.js';
import {t} from '../texts.js';
import {MomentField, momentNode} from '../time_fields.js';
import {confirmed} from './losses.js';

const RECEIVERS = ['project_id', 'user_id'];
const ROLES = ['viewer', 'user', 'manager'];
// Nova's scheduler decides by projects, so a single user cannot use the resources.
const ROLES_OF = {project_id: ROLES, user_id: ROLES.filter((role) => role !== 'user')};

const option = (value, words) => make('option', {value}, words);

/** Open the dialog that shares a lease with a project or a user. */
export function openShare(id) {
  const receiver = make('input', {name: RECEIVERS[0], required: true, maxlength: 255,
    autocomplete: 'off', spellcheck: 'false'});
  const role = make('select', {name: 'role'});
  const kind = make('select', {onchange: () => choose()},
    ...RECEIVERS.map((each) => option(each, t(`share.kind.${each}`))));
  const untilNode = momentNode({name: 'until', label: t('share.until'),
    help: t('share.until_help')});
  const until = new MomentField(untilNode.querySelector('input'));

  /** The service names the field of the receiver in its errors, so the input has this name. */
  function choose() {
    receiver.name = kind.value;
    const chosen = role.value;
    role.replaceChildren(...ROLES_OF[kind.value].map(
      (each) => option(each, t(`share.role.${each}`))));
    if (ROLES_OF[kind.value].includes(chosen)) role.value = chosen;
  }

  choose();
  openForm({
    title: t('share.title'), yes: t('share.yes'),
    content: [make('p', {}, t('share.help')), make('label', {}, t('share.with'), kind),
      make('label', {}, t('share.receiver'), receiver),
      make('label', {}, t('share.role'), role), untilNode],
    act: async () => {
      const end = await until.value();
      return call(`/leases/${id}/shares`, {method: 'POST', body: {
        [kind.value]: receiver.value.trim(), role: role.value, ...(end ? {until: end.wire} : {})}});
    },
    done: () => location.reload()});
}

/**
 * End a share after a question, which lists the running servers of its receiver.
 *
 * @param {string} id - of the lease.
 * @param {string} share - the id of the share.
 * @param {object} asked - question, and yes, the word on the button.
 * @returns {Promise<?object>} null: the user does not go on.
 */
export async function endShare(id, share, asked) {
  const path = `/leases/${id}/shares/${share}`;
  const read = async () => {
    const {body} = await call(path, {method: 'DELETE', query: {dry_run: 'true'}});
    return {body: {losses: body.servers?.map((server) => ({kind: 'server', ...server}))}};
  };
  const goesOn = await confirmed(read, {...asked, always: true, heads: {
    now: 'share.servers', then: 'share.servers_then', unknown: 'share.servers_unknown',
    why: 'share.not_listed'}});
  return goesOn ? call(path, {method: 'DELETE'}) : null;
}
