// Narrow: pages and frames in which columns have no room for digits.

const FRAME_PX = 1000;

// Whether it stands in somebody's page, in a column of text; an address with embed=true is for one, wherever it is opened.
export function isNarrowFrame({ self, top, innerWidth, location: { search } }) {
  return (self !== top || new URLSearchParams(search).get("embed") === "true") && innerWidth < FRAME_PX;
}
