(() => {
  const roots = [...document.querySelectorAll("*")].flatMap((each) => each.shadowRoot ?? []), range = new Range();
  const labels = roots.flatMap((each) => [...each.querySelectorAll(".matrix :is(.long, [scope=rowgroup])")]);
  return labels.map((label) => {
    range.selectNodeContents(label);
    const { width, height } = range.getBoundingClientRect();
    return height > width;
  });
})()