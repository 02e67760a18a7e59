// Narrowing: a talk has fewer rows and columns rather than smaller letters. Of each axis the first places stay, and the selected.
import { axisName, slotsIn } from "./slot.js";

const LEAST = 2; // places of an axis

// The pictures that `make(order)` gives for the first order that they fit with, or for that with the fewest places.
export function narrowed(pass, cell, make, fits) {
  let order = {},
    pictures = make(order);
  while (!fits(pictures)) {
    const longest = axesOf(pass, cell, pictures, order).reduce((one, other) =>
      other.places.length > one.places.length ? other : one,
    );
    if (longest.places.length <= LEAST) break;
    order = { ...order, [longest.name]: withoutOne(longest) };
    pictures = make(order);
  }
  return pictures;
}

/** @param {Pass} pass */
function axesOf(pass, cell, pictures, order) {
  return slotsIn(pictures).flatMap(({ name, side, given: { rows, columns } }) =>
    (side === "A" ? [] : [rows, columns])
      .filter(axis => axis !== null)
      .map(axis => {
        const shownAxis = pass.stages.get(name).axes[axis],
          named = axisName(shownAxis);
        return {
          name: named,
          selected: pass.indexAt(name, cell)[axis],
          places: order[named] ?? [...shownAxis.labels.keys()],
        };
      }),
  );
}

function withoutOne({ places, selected }) {
  const last = places.findLast(place => place !== selected);
  return places.filter(place => place !== last);
}
