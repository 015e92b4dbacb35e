// SPDX-License-Identifier: Apache-2.0
// The session of a page. When it ends, the user logs in again in another window, and the page stays
// as it is, with everything that was entered. Nothing is stored in the browser.

import {make} from './dom.js';
import {t} from './texts.js';

let login = null;
let dismissed = false;

/**
 * Wait until the user has logged in again. All requests of a page wait for the same login.
 *
 * @param {boolean} asked - whether the user has requested something. Otherwise a dialog that was
 *   closed is not shown again.
 * @returns {Promise<boolean>} false: the user has closed the dialog.
 */
export function logInAgain(asked) {
  if (dismissed && !asked) return Promise.resolve(false);
  login ??= dialogClosed().finally(() => { login = null; });
  return login;
}

async function dialogClosed() {
  const said = make('p', {role: 'status'});
  const look = async () => {
    said.textContent = await problem() ?? '';
    if (!said.textContent) dialog.close('yes');
  };
  const dialog = make('dialog', {'aria-labelledby': 'ended'},
    make('p', {id: 'ended'}, t('session.ended')),
    make('p', {}, make('a', {href: '/login?next=/logged-in', target: '_blank'},
      t('session.log_in'))),
    said,
    make('div', {class: 'buttons'},
      make('button', {type: 'button', onclick: () => dialog.close('no')}, t('dialog.no')),
      make('button', {type: 'button', class: 'main', id: 'continue', onclick: look},
        t('session.continue'))));
  document.body.append(dialog);
  dialog.showModal();
  const renewed = await new Promise((resolve) => {
    dialog.addEventListener('close', () => resolve(dialog.returnValue === 'yes'));
  });
  dialog.remove();
  dismissed = !renewed;
  return renewed;
}

/** Take over the new session; return the text of what prevents that, or null. */
async function problem() {
  const answer = await fetch('/rest/session', {cache: 'no-store'}).catch(() => null);
  if (!answer?.ok) return t('session.not_yet');
  const {csrf_token: token, project_id: project} = await answer.json();
  if (project !== document.body.dataset.project) return t('session.other_project');
  document.body.dataset.csrfToken = token;
  for (const input of document.querySelectorAll('input[name="csrf_token"]')) input.value = token;
  return null;
}
