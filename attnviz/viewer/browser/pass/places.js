// Places: where a selection, an address or a flat count lies in the stages of a pass. An index has a place for each axis
// of its stage.
import { CELL } from "../../generated/where.js";
import { coordinatesAt, lengthsOf, placeAt, sharedBy } from "./axes.js";
import { ofHead } from "./latex.js";

export function placing(stages) {
  const lengths = lengthsOf(stages.values());
  const axesOf = name => stages.get(name).axes;
  return {
    indexAt: (name, selection) => axesOf(name).map(axis => placeAt(axis, selection)),
    // The selection on a cell; coordinates that its stage lacks stay, and of heads that share a place the selected one.
    selectionAt: (name, index, selection) => {
      const moved = index.map((place, i) => {
        const axis = axesOf(name)[i];
        return sharedBy(axis) > 1 && placeAt(axis, selection) === place ? {} : coordinatesAt(axis, place);
      });
      return Object.assign({}, selection, ...moved);
    },
    // Each coordinate brought inside the longest axis that it lies on.
    /** @type {(selection: Selected) => Selected} */
    within: selection => {
      const inside = ([name, place]) => [name, Math.min(place, (lengths[name] ?? Infinity) - 1)];
      return { ...selection, ...Object.fromEntries(Object.entries(selection).map(inside)) };
    },
    // The axis of that name, or on which that coordinate lies alone: of the stage, or of the first that has one. Elsewhere
    // one of that name goes before: heads that share a group are each a head.
    axisOf: (wanted, name) => {
      const isNamed = axis => axis.name === wanted && axis.coordinates.length === 1,
        isAlong = axis => axis.coordinates.length === 1 && axis.coordinates[0][0] === wanted;
      const all = [...stages.values()].flatMap(({ axes }) => axes);
      return axesOf(name).find(axis => isNamed(axis) || isAlong(axis)) ?? all.find(isNamed) ?? all.find(isAlong);
    },
    address: (name, index) => `${name}[${index.join(",")}]`,
    // The cell of an address; null if the pass has no such cell.
    read: address => {
      const [, name, places] = address.match(CELL) ?? [];
      const shape = stages.get(name)?.shape ?? [];
      const index = places?.split(",").map(Number) ?? [];
      const isThere = shape.length > 0 && index.length === shape.length && index.every((place, i) => place < shape[i]);
      return isThere ? { name, index } : null;
    },
    // scores[0,1,2] is scores[head 1, cat, sat].
    nameOf: (name, index) => `${name}[${index.map((place, i) => axesOf(name)[i].labels[place]).join(", ")}]`,
    // The symbol of a stage in one head, as LaTeX.
    symbol: (name, head) => ofHead(stages.get(name).symbol, head),
  };
}
