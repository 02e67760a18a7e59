// Outlets: a view stands in one where Streamlit's own text is between its settings and it. The page and its outlet are drawn
// by calls of their own, in either order, and may be replaced by others.

let pair = {}; // {page, outlet}: its outlet is an element

// `part` is {page} or {outlet}. The view stands in its outlet as soon as both are there.
export function join(part) {
  pair = { ...pair, ...part };
  if (pair.page && pair.outlet) pair.page.stand(pair.outlet);
}
