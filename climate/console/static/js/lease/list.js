// SPDX-License-Identifier: Apache-2.0
// The filters of the list of leases. The address has all of them, so Back and a reload restore them.

import {element} from '../dom.js';
import {fromLocal, iso, local, seconds} from '../times.js';
import {loadTexts, t} from '../texts.js';

const form = element('filters');
const moments = [...form.querySelectorAll('input[data-for]')];

/** Write the moments of the address into their fields, in the zone that the user has chosen. */
function fill() {
  for (const input of moments) {
    const moment = seconds(form.elements.namedItem(input.dataset.for).value);
    input.value = Number.isNaN(moment) ? '' : local(moment);
  }
}

fill();
// After Back, a browser may restore what was typed instead of what the address says.
addEventListener('pageshow', ({persisted}) => { if (persisted) fill(); });

form.addEventListener('submit', (event) => {
  try {
    for (const input of moments) {
      form.elements.namedItem(input.dataset.for).value = input.value
        && iso(fromLocal(input.value, (text) => t('zone.skipped', {text})));
    }
  } catch (error) {
    event.preventDefault();
    element('problem').textContent = error.message;
  }
});
// An empty field selects everything, and needs no place in the address.
form.addEventListener('formdata', ({formData}) => {
  for (const [name, value] of [...formData]) if (!value) formData.delete(name);
});
for (const select of [...form.elements].filter((each) => each.matches('select'))) {
  select.addEventListener('change', () => form.requestSubmit());
}

await loadTexts();
