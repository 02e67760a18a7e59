// Loads scripts after a page's first one (viewer/script.py). Each adds its modules and styles to those of the page.
import { button, h } from "../dom/element.js";

const AGAIN_MS = 4000,
  LONGEST_MS = 60_000; // between two rounds of prefetch()
const MISSING = "Part of this page hasn’t loaded. Nothing is lost; we keep trying.";
const FAILED = "Part of this page couldn’t start. Reloading usually helps.";

/** @typedef {{ name: string, default: (modules: any) => { added: any, exports: any }, styles: Record<string, string> }} LateScript */

/** The script loader of the page at `site`. `first` is the first script: its `modules`, its `styles`, and the `scripts` that load later, each with
 * its `path` and the names of the scripts that it runs `after`. Returns {load, add, get, prefetch, adoptStyles}: load(name) is a promise of a script's
 * exports, which retries until the script has loaded and rejects if the script throws; add(script) takes a fetched script; get(name) returns a loaded
 * one's exports; prefetch() loads all others in turn; adoptStyles(root) gives a shadow root all styles, and a notice while a script is missing.
 * @param {URL} site @param {{ modules: any, styles: Record<string, string>, scripts: Record<string, { path: string, after: string[] }> }} first */
export function makeScriptLoader(site, { modules, styles, scripts }) {
  const loading = /** @type {Map<string, Promise<any>>} */ (new Map()),
    loaded = /** @type {Map<string, any>} */ (new Map()),
    requested = /** @type {Set<string>} */ (new Set()), // by more than prefetch()
    failed = /** @type {Set<string>} */ (new Set()), // scripts that threw
    failures = /** @type {Map<string, number>} */ (new Map()), // name -> how often it could not be fetched or threw
    missing = /** @type {Map<string, () => void>} */ (new Map()), // name -> tries again
    sheets = makeSheets(),
    missingNotice = makeNotice(MISSING, "Try again", () => {
      for (const tryAgain of [...missing.values()]) tryAgain();
    }),
    failedNotice = makeNotice(FAILED, "Reload", () => window.location.reload());
  function drawNotices() {
    const isFailed = [...failed].some(name => requested.has(name));
    failedNotice.show(isFailed);
    missingNotice.show(!isFailed && missing.size > 0);
  }
  /** @param {LateScript} script */
  function add({ name, default: make, styles: more }) {
    if (loaded.has(name)) return;
    failed.add(name);
    failures.set(name, (failures.get(name) ?? 0) + 1); // the next request fetches a new copy
    const { added, exports } = make(modules);
    failed.delete(name);
    Object.assign(modules, added);
    loaded.set(name, exports);
    sheets.add(more);
  }
  // Tries until the script is there; without a request, once.
  /** @param {string} name @returns {Promise<LateScript>} */
  async function fetchScript(name) {
    const { path } = scripts[name];
    for (;;) {
      const count = failures.get(name) ?? 0;
      try {
        return await import(new URL(count ? `${path}?again=${count}` : path, site).href); // some browsers keep a failure with its address
      } catch (error) {
        failures.set(name, count + 1);
        if (!requested.has(name)) throw error;
      }
      await /** @type {Promise<void>} */ (
        new Promise(done => {
          missing.set(name, done);
          drawNotices();
          setTimeout(done, AGAIN_MS);
        })
      );
      missing.delete(name);
    }
  }
  /** @param {string} name */
  async function fetchAndAdd(name) {
    try {
      const [script] = await Promise.all([fetchScript(name), ...scripts[name].after.map(loadOnce)]);
      add(script);
    } finally {
      loading.delete(name); // a failure too, so that the next request tries again
      drawNotices();
    }
    return loaded.get(name);
  }
  /** @param {string} name */
  function loadOnce(name) {
    if (loaded.has(name)) return Promise.resolve(loaded.get(name));
    if (!loading.has(name)) loading.set(name, fetchAndAdd(name));
    return /** @type {Promise<any>} */ (loading.get(name));
  }
  /** @param {string} name */
  function request(name) {
    requested.add(name);
    scripts[name].after.forEach(request);
  }
  // A missing script is tried again in the next round, after an ever longer pause: it isn't urgent.
  async function prefetch() {
    const all = Object.entries(scripts),
      isNext = (/** @type {typeof all[number]} */ [name, { after }]) =>
        !loaded.has(name) && !failed.has(name) && after.every(each => loaded.has(each));
    for (let pause = AGAIN_MS; ; pause = Math.min(2 * pause, LONGEST_MS)) {
      for (const each of all) if (isNext(each)) await loadOnce(each[0]).catch(() => {});
      if (!all.some(isNext)) return;
      await new Promise(done => setTimeout(done, pause));
    }
  }
  sheets.add(styles);
  return {
    load(/** @type {string} */ name) {
      request(name);
      return loadOnce(name);
    },
    add,
    get: (/** @type {string} */ name) => loaded.get(name),
    prefetch,
    adoptStyles(/** @type {ShadowRoot} */ root) {
      sheets.adoptStyles(root);
      for (const each of [missingNotice, failedNotice]) each.attachTo(root);
    },
  };
}

// Stylesheets by name, in the order of their names whichever comes first: later ones win.
function makeSheets() {
  const all = /** @type {Map<string, CSSStyleSheet>} */ (new Map()),
    roots = /** @type {Set<any>} */ (new Set());
  const adoptStyles = (/** @type {any} */ root) => {
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
        if (root.host?.isConnected) adoptStyles(root);
        else roots.delete(root);
      }
    },
    adoptStyles: (/** @type {any} */ root) => {
      roots.add(root);
      adoptStyles(root);
    },
  };
}

/** @param {string} text @param {string} label @param {() => void} act */
function makeNotice(text, label, act) {
  const status = h("p", { role: "status" }),
    box = h("div", { class: "viewer late-script" }, status, button(label, act));
  let home = /** @type {ParentNode | null} */ (null),
    isShown = false;
  const draw = () => {
    if (!isShown) box.remove();
    else if (box.parentNode !== home) home?.append(box);
    status.textContent = isShown ? text : "";
  };
  return {
    attachTo: (/** @type {ParentNode} */ root) => {
      home = root;
      draw();
    },
    show: (/** @type {boolean} */ is) => {
      isShown = is;
      draw();
    },
  };
}
