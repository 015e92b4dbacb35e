// SPDX-License-Identifier: Apache-2.0
// Draws what surrounds the bars of a timeline: the names of the rows, and the axis of time.

import {t} from '../texts.js';
import {HEAD, ROW} from './layout.js';
import {rowWord} from './words.js';

const GROUP_X = 6;
const NAME_X = 14;
const TICK_X = 4;
const UPPER_Y = 10;
const LOWER_Y = 24;
const UPPER_GAP = 12;

/** Draw the column of the names of rows. */
export function drawLabels(painter, {focusRow}, shown) {
  const {context, colours, labels, labelWidths} = painter;
  context.fillStyle = colours.card;
  context.fillRect(0, HEAD, labels, painter.height);
  for (const {lane, group, count, index, y} of shown) {
    if (index === focusRow || !lane) {
      context.fillStyle = index === focusRow ? colours.tint : colours.hover;
      context.fillRect(0, y, labels, ROW);
    }
    painter.type(lane ? 'label' : 'group');
    context.fillStyle = lane && !lane.resource.reservable ? colours.bad : colours.text;
    const x = lane ? NAME_X : GROUP_X;
    const text = lane ? labelWidths.ends(rowWord(lane.resource), labels - x - GROUP_X)
      : t('timeline.group_row', {name: group || t('timeline.no_value'), count});
    context.save();
    context.beginPath();
    context.rect(0, y, lane ? labels - TICK_X : painter.width, ROW);
    context.clip();
    context.fillText(text, x, y + ROW / 2 + 0.5);
    context.restore();
  }
  context.fillStyle = colours.line;
  context.fillRect(labels - 1, 0, 1, painter.height);
}

/** Draw the axis: years, months or days above, and their parts below. */
export function drawHead(painter, {scale}) {
  const {context, colours, labels} = painter;
  context.fillStyle = colours.ground;
  context.fillRect(0, 0, painter.width, HEAD);
  context.fillStyle = colours.line;
  context.fillRect(0, HEAD - 1, painter.width, 1);
  context.save();
  context.beginPath();
  context.rect(labels, 0, painter.width, HEAD);
  context.clip();
  const {upper, lower} = scale.axis();
  painter.type('tick');
  for (const {moment, label, strong} of lower) {
    context.fillStyle = strong ? colours.text : colours.soft;
    context.fillText(label, labels + scale.x(moment) + TICK_X, LOWER_Y);
  }
  painter.type('strong');
  context.fillStyle = colours.text;
  for (const [place, {moment, label}] of upper.entries()) {
    // The first one stays in sight until the next one pushes it out.
    const next = upper[place + 1] ? scale.x(upper[place + 1].moment) : Infinity;
    const width = context.measureText(label).width + UPPER_GAP;
    const x = Math.min(Math.max(0, scale.x(moment)), next - width);
    if (x >= 0) context.fillText(label, labels + x + TICK_X, UPPER_Y);
  }
  context.restore();
}
