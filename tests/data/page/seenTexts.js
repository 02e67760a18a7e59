// The texts that can be read in the lessons' page, or by scrolling it: neither hidden nor cut off. Without its navigation.
() => {
  const texts = [],
    walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT),
    range = new Range();
  const isCut = (element, { left, right, top, bottom }) => {
    const [x, y] = [(left + right) / 2, (top + bottom) / 2];
    for (let each = element; each && each !== document.body; each = each.parentElement) {
      const style = getComputedStyle(each);
      if (!/hidden|clip/.test(style.overflowX + style.overflowY)) continue;
      const box = each.getBoundingClientRect();
      if (/hidden|clip/.test(style.overflowX) && (x < box.left || x > box.right)) return true;
      if (/hidden|clip/.test(style.overflowY) && (y < box.top || y > box.bottom)) return true;
    }
    return false;
  };
  while (walker.nextNode()) {
    const text = walker.currentNode.textContent.trim(),
      parent = walker.currentNode.parentElement;
    if (!text || parent.closest("script, style, template, .count, .about")) continue;
    if (!parent.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue;
    if (parseFloat(getComputedStyle(parent).fontSize) < 6) continue;
    range.selectNodeContents(walker.currentNode);
    const box = range.getBoundingClientRect();
    if (box.width < 2 || box.height < 2 || isCut(parent, box)) continue;
    texts.push(text);
  }
  return texts;
}
