// Narrow: pages and frames in which columns have no room for digits.

const FRAME_PX = 1000;

// Whether it stands in somebody's page, in a column of text.
export function isNarrowFrame({ self, top, innerWidth }) {
  return self !== top && innerWidth < FRAME_PX;
}
