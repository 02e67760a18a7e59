// Outlets: a view stands in one where Streamlit's own text is between its settings and it. The page and the outlet of a scene
// are drawn by calls of their own, in either order, and may be replaced by others.

const pairs = new Map(); // name of a scene -> {page, outlet}: its outlet is an element

// `part` is {page} or {outlet}. The view stands in its outlet as soon as both are there.
export function join(name, part) {
  const pair = { ...pairs.get(name), ...part };
  pairs.set(name, pair);
  if (pair.page && pair.outlet) pair.page.stand(pair.outlet);
}
