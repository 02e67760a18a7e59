// Noted: what the words had looked at in the layer before, so that one sees what a query finds in those that it looks at.

const LEAST = 0.02; // of a share that counts as a look

// The arcs of a layer whose words `arcs`, those of the selected query in the next layer, lead to: of each of these words
// what it looked at, and of each other its largest share, faint. `focus` is a cell that is there in any case.
/** @param {Pass} pass @param {Look} look */
export function notedArcs(pass, look, attention, cell, { arcs, focus }) {
  const seen = new Set(arcs.filter(({ share }) => share > LEAST).map(({ key }) => key));
  const focused = focus.name === attention ? focus.index : null;
  return pass.stages.get(attention).axes[1].labels.flatMap((_, query) => {
    const index = pass.indexAt(attention, { ...cell, query }),
      shares = pass.row(attention, index),
      most = Math.max(...shares);
    const looks = key => shares[key] === most || (seen.has(query) && shares[key] > LEAST);
    const isOwn = key => focused?.[0] === index[0] && focused[1] === query && focused[2] === key;
    const isLit = key => (focused ? isOwn(key) : query === cell.key);
    return Array.from(shares, (share, key) => ({
      query,
      key,
      share,
      isLit: isLit(key),
      isFaint: !seen.has(query) && !isLit(key),
    })).filter(
      ({ key, share }) => share > 0 && (looks(key) || isOwn(key)) && look.shown(attention, index.with(2, key)),
    );
  });
}
