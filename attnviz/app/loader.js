// The component, as far as Streamlit knows it. It fetches the component itself, which the browser keeps for all runs and visits
// (../script.py), from the folder that Streamlit's own scripts are from.
const streamlits = document.querySelector('script[src*="/static/js/"]').src;
const site = new URL("../../", streamlits);
const { default: show, styles } = await import(new URL("{path}", site));
const sheet = new CSSStyleSheet();
sheet.replaceSync(styles);

export default function (given) {
  given.parentElement.adoptedStyleSheets = [sheet];
  const end = show(given, site);
  given.parentElement.host.dataset.drawn = ""; // charts wait for the text above them (page.css)
  return end;
}
