(place) => {
  const LEAST = 24 - 0.1;  // px (WCAG 2.5.8): of its own, or of room from middle to middle
  const within = (root) => [...root.querySelectorAll("*")]
    .flatMap((each) => [each, ...(each.shadowRoot ? within(each.shadowRoot) : [])]);
  const hasWords = (block) => {
    const texts = document.createTreeWalker(block, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
      const { data, parentElement: own } = texts.currentNode;
      if (data.trim() && !own.closest("a, button, select, summary")) return true;
    }
    return false;
  };
  const isInText = (each) => getComputedStyle(each).display.startsWith("inline") && each.parentElement !== null
    && (hasWords(each.parentElement) || isInText(each.parentElement));
  const isTarget = (each) => each.tabIndex >= 0 && !each.disabled
    && each.matches("a[href], button, input, select, textarea, summary, [role][tabindex]")
    && each.checkVisibility({ visibilityProperty: true, opacityProperty: true })
    && !isInText(each);
  const isCovered = (each, box) => {
    const seen = each.getRootNode().elementFromPoint((box.left + box.right) / 2, (box.top + box.bottom) / 2);
    return seen && !each.contains(seen) && !seen.contains(each);
  };
  const targets = within(place).filter(isTarget).map((each) => ({ each, box: each.getBoundingClientRect() }))
    .filter(({ each, box }) => box.width > 1 && box.height > 1 && !isCovered(each, box));
  const isSmall = ({ box }) => Math.min(box.width, box.height) < LEAST;
  const middle = ({ box }) => [(box.left + box.right) / 2, (box.top + box.bottom) / 2];
  const nearest = ([x, y], { box }) =>
    [Math.max(box.left, Math.min(x, box.right)), Math.max(box.top, Math.min(y, box.bottom))];
  const room = (one, other) => {
    const [x, y] = middle(one), [to, down] = isSmall(other) ? middle(other) : nearest([x, y], other);
    return Math.hypot(to - x, down - y) * (isSmall(other) ? 1 : 2);
  };
  const areApart = (one, other) => one === other || one.each.contains(other.each) || other.each.contains(one.each)
    || room(one, other) >= LEAST;
  return targets.filter((one) => isSmall(one) && !targets.every((other) => areApart(one, other)))
    .map(({ each, box }) => `target of ${box.width} x ${box.height} px: ${each.outerHTML.slice(0, 160)}`);
}