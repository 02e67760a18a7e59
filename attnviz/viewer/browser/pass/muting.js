// Muting: of which heads and neurons all numbers were set by hand, so that they pass nothing on.

// The place of the change that sets all numbers at an index whose other places are left out or null; -1 where none does.
/** @param {Pass} pass */
export function changeAt({ document: { changes } }, stage, index) {
  return changes.findIndex(each => each.stage === stage && String(each.index) === String(index));
}

// Whether what a head collects by a stage of attention goes nowhere: the head is muted, or all that its layer adds.
/** @param {Pass} pass */
export function isMuted(pass, attention, head) {
  const { heads } = pass.stepOf(attention),
    output = heads.replace("heads", "output");
  return changeAt(pass, heads, [head]) >= 0 || changeAt(pass, output, [null]) >= 0;
}
