(() => {
  const root = document.querySelector(".viewer"), text = (selector) => root?.querySelector(selector)?.textContent;
  if (!text(".step-text h2")) return null;
  const number = (each) => each.firstChild.data;
  return {
    place: text(".way .place"), title: document.title,
    refused: document.querySelector("#refused").textContent,
    scores: [...root.querySelectorAll(".sheet:not([hidden]) [data-cell^=scores]")].map(number),
    isPresented: document.documentElement.hasAttribute("data-presenting"), trail: text(".trail") ?? "",
    typed: Number(root.querySelector(".panel .by-hand input").value.replace("−", "-")).toFixed(4), focus: text(".panel h3"),
  };
})()