// SPDX-License-Identifier: Apache-2.0
// The words of the timeline: of bars, of resources, and as much of them as fits.

import {t} from '../texts.js';
import {duration, words} from '../times.js';

/** Return the words on a bar. */
export const barWord = (kind, lease) => lease?.name ?? t(`timeline.kind.${kind}`);

/** Return the words of a resource; members do not see names. */
export const rowWord = (resource) => resource.name ?? t('timeline.resource', {id: resource.id});

/** Return who has a lease, as "ann in demo", or ''. */
export const ownerWord = (lease) => (lease?.user_id
  ? t('timeline.owner', {user: lease.user_name ?? lease.user_id,
    project: lease.project_name ?? lease.project_id}) : '');

/** Return from when to when a bar is, in words. */
export function spanWord({start, end, open}) {
  if (open) return t('timeline.open_ended', {start: words(start)});
  return `${words(start)} – ${words(end)} (${duration(end - start)})`;
}

/** Return the lines that describe a bar: its name, its status, its owner, and its time. */
export function barLines(bar) {
  const status = bar.status ? t(`status.${bar.status}`) : '';
  return [barWord(bar.kind, bar.lease), status, ownerWord(bar.lease), spanWord(bar)]
    .filter(Boolean);
}

/** Say in a sentence what a bar is. */
export const barSentence = (bar) => `${rowWord(bar.lane.resource)}: ${barLines(bar).join(', ')}`;

/** Measures texts in the font of a canvas, and shortens them. */
export class Measure {
  constructor(context) {
    this.context = context;
    this.known = new Map();
  }

  /** Forget the widths, because the font is another one. */
  reset() { this.known.clear(); }

  /** Return the width of a text in pixels; the context must have its font. */
  width(text) {
    let width = this.known.get(text);
    if (width === undefined) {
      width = this.context.measureText(text).width;
      this.known.set(text, width);
    }
    return width;
  }

  /** Return a text, or as much of its beginning as is narrower than a width, with "…". */
  start(text, width) {
    const whole = this.width(text);
    if (whole <= width) return text;
    const count = Math.floor(text.length * width / whole) - 1;
    return count < 1 ? '' : `${text.slice(0, count)}…`;
  }

  /** Return a text, or its first and its last letters, which tell names of a series apart. */
  ends(text, width) {
    const whole = this.width(text);
    if (whole <= width) return text;
    const count = Math.max(3, Math.floor(text.length * width / whole) - 1);
    const last = Math.ceil(count * 0.7);
    return `${text.slice(0, count - last)}…${text.slice(-last)}`;
  }
}
