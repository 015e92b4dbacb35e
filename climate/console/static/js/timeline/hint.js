// SPDX-License-Identifier: Apache-2.0
// The card beside the pointer that describes a bar. Its words are also in the line that is spoken.

import {fill, make} from '../dom.js';
import {barLines, rowWord} from './words.js';

const DISTANCE = 14;

export class Hint {
  /** @param {HTMLElement} node - an element in a fixed position, hidden. */
  constructor(node) {
    this.node = node;
    this.bar = null;
  }

  /** Show a bar beside the pointer of an event; null: none. Fingers hide what is below them. */
  show(bar, event) {
    const {node} = this;
    node.hidden = !bar || event.pointerType === 'touch';
    if (node.hidden) return;
    if (bar.lane !== this.bar?.lane || bar.index !== this.bar?.index) {
      const [title, ...lines] = barLines(bar);
      fill(node, make('strong', {}, title),
        ...[rowWord(bar.lane.resource), ...lines].map((line) => make('span', {}, line)));
    }
    this.bar = bar;
    const {offsetWidth: width, offsetHeight: height} = node;
    const right = event.clientX + DISTANCE + width > window.innerWidth;
    const below = event.clientY + DISTANCE + height > window.innerHeight;
    node.style.left = `${right ? Math.max(0, event.clientX - DISTANCE - width)
      : event.clientX + DISTANCE}px`;
    node.style.top = `${below ? event.clientY - DISTANCE - height : event.clientY + DISTANCE}px`;
  }
}
