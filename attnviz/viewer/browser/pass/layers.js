// Layers: how the steps of a pass of several layers stand on its map and in its whole.

// The map with the steps of one layer open, and those of each other folded into one, which leads to the first of them and
// in which one stage, `standsFor(layer)`, stands for all. A step has `opens`, the name of the layer that begins with it.
export function folded({ columns, arrows }, open, standsFor) {
  const inPlaceOf = new Map(),
    made = [];
  for (const column of columns) {
    const { layer } = column,
      isFirst = layer > 0 && made.at(-1)?.layer !== layer;
    const isFolded = layer > 0 && layer !== open;
    if (isFolded) for (const stage of column.stages) inPlaceOf.set(stage, standsFor(layer));
    if (isFolded && isFirst) made.push({ ...column, title: nameOf(layer), stages: [standsFor(layer)], opens: "" });
    if (!isFolded) made.push({ ...column, opens: isFirst ? nameOf(layer) : "" });
  }
  const between = arrows
    .map(arrow => arrow.map(stage => inPlaceOf.get(stage) ?? stage))
    .filter(([from, to]) => from !== to);
  return { columns: made, arrows: [...new Map(between.map(arrow => [arrow.join(), arrow])).values()] };
}

// The steps in rows: one for each layer, the first and the last with what comes before and after.
export function inRows(columns) {
  const rows = [[]];
  for (const column of columns) {
    if (column.layer > rows.length) rows.push([]);
    rows.at(-1).push(column);
  }
  return rows;
}

// The name of a layer; "" where a pass has but one.
export function nameOf(layer) {
  return layer ? `Layer ${layer}` : "";
}
