// SPDX-License-Identifier: Apache-2.0
// The filters of the list of leases. The address has all of them, so Back and a reload restore them.

import {element} from '../dom.js';
import {BadField, showRefusal} from '../problems.js';
import {loadTexts, t} from '../texts.js';
import {MomentField} from '../time_fields.js';
import {seconds, typed} from '../times.js';

const form = element('filters');
const from = new MomentField(form.querySelector('[data-for=from]'));
const to = new MomentField(form.querySelector('[data-for=to]'), from);
const moments = [from, to];

/** Write the moments of the address into their fields, in the zone that the user has chosen. */
function fill() {
  for (const field of moments) {
    const moment = seconds(form.elements.namedItem(field.input.dataset.for).value);
    field.fill(Number.isNaN(moment) ? '' : typed(moment));
  }
}

fill();
// After Back, a browser may restore what was typed instead of what the address says.
addEventListener('pageshow', ({persisted}) => { if (persisted) fill(); });

form.addEventListener('submit', async (event) => {
  event.preventDefault();
  try {
    const values = [];
    for (const field of moments) values.push((await field.value())?.moment ?? '');
    if (values.every(Boolean) && seconds(values[1]) <= seconds(values[0])) {
      throw new BadField(t('leases.span'), to.input);
    }
    for (const [place, {input}] of moments.entries()) {
      form.elements.namedItem(input.dataset.for).value = values[place];
    }
    form.submit();
  } catch (error) {
    showRefusal(form, error);
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
