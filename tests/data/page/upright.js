(() => {
  const roots = [...document.querySelectorAll("*")].flatMap((each) => each.shadowRoot ?? []);
  const labels = roots.flatMap((each) => [...each.querySelectorAll(".matrix :is(.long, [scope=rowgroup]) > span")]);
  return labels.map((label) => {
    const { width, height } = label.getBoundingClientRect();
    return height > width;
  });
})()
