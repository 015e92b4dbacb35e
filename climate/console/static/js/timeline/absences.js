// SPDX-License-Identifier: Apache-2.0
// Draws absences, the layer behind the bars: maintenance, resources out of service, and sleep.

import {t} from '../texts.js';
import {Strips} from './strips.js';
import {fillOf, patternOf, stateOf} from './styles.js';

// Narrower absences have no lines, in pixels.
const LINES_LEAST = 6;
// Over how many pixels, and in how many steps, an absence without a known end fades.
const FADE = 240;
const STEPS = 12;
// How visible it is after that: a resource that sleeps wakes up for the next lease.
const REST = {out_of_order: 0.35, maintenance: 0.35, asleep: 0};
const WORD_PADDING = 5;

export class Absences {
  constructor(painter) {
    this.painter = painter;
    this.strips = new Strips();
  }

  draw({scale, now}, lanes) {
    const {painter, strips} = this;
    const shown = lanes.filter(({lane}) => lane.absences.length);
    if (!shown.length) return;
    strips.begin(Math.round(scale.width * painter.ratio), shown.length);
    const wide = [];
    for (const [track, row] of shown.entries()) {
      for (const absence of row.lane.absences) {
        if (absence.start >= scale.end) break;
        if (absence.end <= scale.start && !absence.open) continue;
        const box = this._box(scale, absence);
        if (absence.open || box.right - box.left >= LINES_LEAST) wide.push({absence, box, row});
        else this._add(track, box, absence);
      }
    }
    strips.end();
    for (const [track, {y}] of shown.entries()) {
      strips.draw(painter.context, track,
        {x: painter.labels, y, width: scale.width, height: painter.rowHeight});
    }
    for (const each of wide) this._wide(scale, now, each);
  }

  _box(scale, {start, end, open}) {
    return {left: Math.max(0, scale.x(start)),
      right: open ? scale.width : Math.min(scale.width, scale.x(end))};
  }

  /** Return where the visible part of an absence is, right of the labels. */
  box(scale, absence, top) {
    const {left, right} = this._box(scale, absence);
    return {x: left, y: top + 1, width: Math.max(1, right - left),
      height: this.painter.rowHeight - 2};
  }

  _add(track, {left, right}, {kind}) {
    const {ratio, palette} = this.painter;
    this.strips.add(track, left * ratio, Math.max(right, left + 1) * ratio,
      palette.fillPixels[fillOf(stateOf(kind))], 0);
  }

  _wide(scale, now, {absence, box, row}) {
    const {context} = this.painter;
    const known = absence.open
      ? Math.min(scale.width, Math.max(box.left, scale.x(now))) : box.right;
    this._area(absence, row, box.left, known);
    if (absence.open) {
      const rest = REST[absence.kind];
      for (let step = 0; step < STEPS; step += 1) {
        context.globalAlpha = rest + (1 - rest) * (1 - (step + 0.5) / STEPS);
        this._area(absence, row, known + step * FADE / STEPS, known + (step + 1) * FADE / STEPS);
      }
      context.globalAlpha = rest;
      if (rest) this._area(absence, row, known + FADE, scale.width);
      context.globalAlpha = 1;
    }
    this._word(scale, absence, row, box);
  }

  _area({kind}, {y}, left, right) {
    const {context, palette, labels, rowHeight} = this.painter;
    if (right <= left) return;
    const fill = fillOf(stateOf(kind));
    context.fillStyle = palette.fills[fill];
    context.fillRect(labels + left, y, right - left, rowHeight);
    context.fillStyle = palette.lines(fill, patternOf(kind));
    context.fillRect(labels + left, y, right - left, rowHeight);
  }

  /** Name an absence where no bar hides the name. */
  _word(scale, absence, {lane, y}, {left, right}) {
    const {context, palette, labels, barWidths, rowHeight} = this.painter;
    const name = t(`timeline.kind.${absence.kind}`);
    const text = absence.open ? t('timeline.until_notice', {name}) : name;
    this.painter.type('bar');
    const width = barWidths.width(text) + 2 * WORD_PADDING;
    if (right - left < width) return;
    if (!lane.isFree(scale.moment(left), scale.moment(left + width))) return;
    const fill = fillOf(stateOf(absence.kind));
    context.fillStyle = palette.fills[fill];
    context.fillRect(labels + left + 2, y + 3, width - 4, rowHeight - 6);
    context.fillStyle = palette.texts[fill];
    context.fillText(text, labels + left + WORD_PADDING, y + rowHeight / 2 + 0.5);
  }
}
