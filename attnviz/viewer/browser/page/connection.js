// A notice while the server is unreachable. Streamlit would show grey bars if its WebSocket never opens, and a dialog over the whole page if
// the server is gone, although lessons and the steps of a pass work without it. The index page (app/index_page.py) runs this before
// Streamlit's scripts.
import { h, write } from "../dom/element.js";
import { closeDialog, deferIconFont, hidesDialog, isConnected } from "../shell/streamlit.js";

const CHECK_MS = 500,
  NEVER_MS = 8000, // until a connection that was never there counts as missing
  LOST_MS = 2000; // until one that was there does
const NEVER =
    "The page is here, but its connection to the server (a WebSocket) doesn’t open: a network, a proxy or an extension of the browser may block it, or the server is down. This page keeps trying. Try another network, or ask whoever runs this server.",
  LOST =
    "The server doesn’t answer. What has come goes on: steps, numbers, moments of lessons. The rest waits, and this page keeps trying.";
const STYLE = `
  .attnviz-connection { position: fixed; inset: 0 0 auto; z-index: 1000000; margin: 0; padding: 0.6rem 1.5rem;
    font: 0.9rem/1.4 sans-serif; color: CanvasText; background: Canvas; border-bottom: 2px solid CanvasText; }
  .attnviz-connection:empty, [data-presenting] .attnviz-connection { display: none; }
  @media print { .attnviz-connection { display: none; } }
`;

function watch({ document, performance, setInterval }) {
  const bar = h("p", { class: "attnviz-connection", role: "status" }),
    sheet = new CSSStyleSheet();
  let wasConnected = false,
    missingSince = /** @type {number | null} */ (null);
  sheet.replaceSync(STYLE + hidesDialog('[data-connection="missing"]'));
  document.adoptedStyleSheets.push(sheet);
  document.body.append(bar);
  const check = () => {
    const is = isConnected(document);
    if (is) wasConnected = true;
    missingSince = is === false ? (missingSince ?? performance.now()) : null;
    if (is !== null) document.documentElement.dataset.connection = is ? "there" : "missing";
    if (missingSince !== null) closeDialog(document);
    const missing = missingSince === null ? -1 : performance.now() - missingSince,
      isMissing = missing >= (wasConnected ? LOST_MS : NEVER_MS);
    write(bar, isMissing ? (wasConnected ? LOST : NEVER) : "");
  };
  setInterval(check, CHECK_MS);
}

deferIconFont(document);
watch(globalThis);
