// The script: the pass as a program, in NumPy, PyTorch or microgpt's own Python, in colours, with buttons that copy and download
// the one that is shown, and one for the file that it reads where the page has none.
import { button, choice } from "../elements/button.js";
import { element, redraw, write } from "../elements/element.js";
import { copyText } from "../elements/link.js";
import { saveFile } from "../viewer/download.js";

const LANGUAGES = { NumPy: "runs", PyTorch: "torch", "microgpt’s Python": "microgpt" };
const FILES = { runs: "attnviz_pass.py", torch: "attnviz_torch.py", microgpt: "attnviz_microgpt.py" };

// Returns {show(script), end()}.
export function mountScript(box) {
  const code = element("code"),
    text = element("pre"),
    status = element("span", "copied"),
    languages = element("p", "languages");
  let shown = null,
    language = "NumPy";
  const draw = () => {
    const now = shown[LANGUAGES[language]] ? language : "NumPy";
    const pick = name => {
      language = name;
      draw();
    };
    const names = Object.keys(LANGUAGES).filter(name => shown[LANGUAGES[name]]);
    redraw(languages, [
      ...(names.length > 1 ? [choice(names, now, pick)] : []),
      ...(shown.torch ? [] : [element("span", "note", " PyTorch’s nn.MultiheadAttention can’t make this pass.")]),
      ...(LANGUAGES[now] === "microgpt"
        ? [
            button(`Its numbers (${shown.file.name})`, () =>
              saveFile(shown.file.text, shown.file.name, "application/json"),
            ),
          ]
        : []),
    ]);
    const file = FILES[LANGUAGES[now]];
    write(saved, `↓ ${file}`);
    saved.onclick = () => saveFile(code.textContent, file, "text/x-python");
    code.replaceChildren(
      ...shown[LANGUAGES[now]].map(([kind, part]) =>
        kind ? element("span", kind, part) : document.createTextNode(part),
      ),
    );
  };
  const copy = button("Copy", async () => {
    write(status, (await copyText(window, code.textContent)) ? "Copied." : "Select it and copy it by hand.");
    setTimeout(() => write(status, ""), 5000);
  });
  const saved = button("", () => {});
  status.setAttribute("role", "status");
  text.append(code);
  const bar = element("div", "bar"),
    program = element("div", "program");
  bar.append(copy, saved, status);
  program.append(bar, text);
  box.replaceChildren(languages, program);
  return {
    show: script => {
      shown = script;
      draw();
    },
    end: () => {},
  };
}
