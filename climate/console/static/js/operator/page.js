// SPDX-License-Identifier: Apache-2.0
// The page of operators.

import {element} from '../dom.js';
import {showRefusal} from '../problems.js';
import {call} from '../rest.js';
import {loadTexts} from '../texts.js';
import * as maintenance from './maintenance.js';
import * as resources from './resources.js';

await loadTexts();
resources.listen(maintenance.maintain);
maintenance.listen();

const form = element('enrol');

/** Return the resource that the form describes, as POST /v1/resources/{pool} takes it. */
const described = () => Object.fromEntries([...form.querySelectorAll('input')]
  .filter((field) => field.value.trim())
  .map((field) => [field.name, field.type === 'number' ? Number(field.value)
    : field.value.trim()]));

form.addEventListener('submit', async (event) => {
  event.preventDefault();
  try {
    await call(`/resources/${element('resources').dataset.pool}`, {
      method: 'POST', body: described()});
    location.reload();
  } catch (error) {
    showRefusal(form, error);
  }
});
