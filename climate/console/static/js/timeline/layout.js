// SPDX-License-Identifier: Apache-2.0
// Where things are on the picture of a timeline, in pixels.

/** The height of the axis. */
export const HEAD = 34;
/** The height of a row, with the line below it. */
export const ROW = 24;
/** The distance of bars from the upper and the lower edge of their row. */
export const PADDING = 3;

/** Return the height of a track of a lane, with the gap below it. */
export const trackHeight = (lane) => (ROW - 2 * PADDING + 1) / lane.trackCount;
