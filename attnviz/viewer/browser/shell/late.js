// Scripts that come after a page's first one (viewer/script.py). Each adds its modules to those that are there, and its styles.
import { button, h } from "../dom/element.js";

const AGAIN_MS = 4000;
const MISSING =
  "A part of this page has not come: the server doesn’t answer. Nothing is lost, and what you did goes on once it is here. If that takes long, reload the page.";

/** @typedef {{ name: string, default: (modules: any) => { added: any, exports: any }, styles: Record<string, string> }} LateScript */

/** The scripts of the page at `site`. `first` is the script that came first: its `modules`, its `styles`, and the `scripts` that come later, each with
 * its `path` and the names of those that it builds `after`. Returns late(name), a promise of what a script exports; it is kept until the script is there,
 * however long that takes. late.add(script) takes one that has been fetched, late.get(name) returns what one that is there exports,
 * late.prefetch() brings all others in turn, and late.dress(root) gives a shadow root all styles, and a notice if something is missing.
 * @param {URL} site @param {{ modules: any, styles: Record<string, string>, scripts: Record<string, { path: string, after: string[] }> }} first */
export function makeLate(site, { modules, styles, scripts }) {
  const coming = /** @type {Map<string, Promise<any>>} */ (new Map()),
    here = /** @type {Map<string, any>} */ (new Map()),
    wanted = /** @type {Set<string>} */ (new Set()), // by more than prefetch()
    missing = /** @type {Map<string, () => void>} */ (new Map()), // name -> tries again
    sheets = makeSheets(),
    notice = makeNotice(() => {
      for (const tryAgain of [...missing.values()]) tryAgain();
    });
  const drawNotice = () => notice.show([...missing.keys()].some(name => wanted.has(name)));
  /** @param {LateScript} script */
  function add({ name, default: make, styles: more }) {
    if (here.has(name)) return;
    const { added, exports } = make(modules);
    Object.assign(modules, added);
    here.set(name, exports);
    sheets.add(more);
  }
  /** @param {string} name @returns {Promise<LateScript>} */
  async function fetched(name) {
    const { path } = scripts[name];
    for (let nth = 0; ; nth += 1) {
      try {
        return await import(new URL(nth ? `${path}?again=${nth}` : path, site).href); // some browsers keep a failure with its address
      } catch {
        await /** @type {Promise<void>} */ (
          new Promise(done => {
            missing.set(name, done);
            drawNotice();
            setTimeout(done, AGAIN_MS);
          })
        );
      }
      missing.delete(name);
    }
  }
  /** @param {string} name */
  async function bring(name) {
    const [script] = await Promise.all([fetched(name), ...scripts[name].after.map(begin)]);
    add(script);
    drawNotice();
    return here.get(name);
  }
  /** @param {string} name */
  function begin(name) {
    if (!coming.has(name)) coming.set(name, here.has(name) ? Promise.resolve(here.get(name)) : bring(name));
    return /** @type {Promise<any>} */ (coming.get(name));
  }
  /** @param {string} name */
  function want(name) {
    if (wanted.has(name)) return;
    wanted.add(name);
    scripts[name].after.forEach(want);
    drawNotice();
  }
  const late = (/** @type {string} */ name) => {
    want(name);
    return begin(name);
  };
  sheets.add(styles);
  return Object.assign(late, {
    add,
    get: (/** @type {string} */ name) => here.get(name),
    prefetch: async () => {
      for (const name of Object.keys(scripts)) await begin(name);
    },
    dress: (/** @type {ShadowRoot} */ root) => {
      sheets.dress(root);
      notice.standIn(root);
    },
  });
}

// Stylesheets by name, in the order of their names whichever comes first: later ones win.
function makeSheets() {
  const all = /** @type {Map<string, CSSStyleSheet>} */ (new Map()),
    roots = /** @type {Set<any>} */ (new Set());
  const dress = (/** @type {any} */ root) => {
    root.adoptedStyleSheets = [...all.keys()].sort().map(name => all.get(name));
  };
  return {
    add: (/** @type {Record<string, string>} */ texts) => {
      for (const [name, text] of Object.entries(texts)) {
        const sheet = new CSSStyleSheet();
        sheet.replaceSync(text);
        all.set(name, sheet);
      }
      for (const root of roots) {
        if (root.host?.isConnected) dress(root);
        else roots.delete(root);
      }
    },
    dress: (/** @type {any} */ root) => {
      roots.add(root);
      dress(root);
    },
  };
}

/** @param {() => void} tryAgain */
function makeNotice(tryAgain) {
  const text = h("p", { role: "status" }),
    box = h("div", { class: "viewer late-script" }, text, button("Try again", tryAgain));
  let home = /** @type {ParentNode | null} */ (null),
    isShown = false;
  const draw = () => {
    if (!isShown) box.remove();
    else if (box.parentNode !== home) home?.append(box);
    text.textContent = isShown ? MISSING : "";
  };
  return {
    standIn: (/** @type {ParentNode} */ root) => {
      home = root;
      draw();
    },
    show: (/** @type {boolean} */ is) => {
      isShown = is;
      draw();
    },
  };
}
