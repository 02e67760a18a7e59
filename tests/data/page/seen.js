(() => {
  const viewer = VIEWER, text = (selector) => viewer.querySelector(selector).textContent;
  if (!viewer?.querySelector(".step-text h2")) return null;
  const grids = [...viewer.querySelectorAll(".picture:not([hidden]) [role=grid]")];
  return {
    place: text(".way .place"), heading: text(".step-text h2"), address: location.search,
    grids: grids.map((grid) => [...grid.querySelectorAll("[data-row]")].map((cell) => cell.textContent)),
    isWhole: [...viewer.querySelectorAll(".matrices")].every((board) => board.scrollHeight === board.clientHeight),
    sheet: [...viewer.querySelectorAll(".sheet:not([hidden]) .score-to-weight .value")].map((text) => text.textContent),
    settings: viewer.querySelector(".settings").checkVisibility({ visibilityProperty: true }),
  };
})()