// The component of lessons and passes, as far as Streamlit knows it. It fetches the scripts of its page, which the browser keeps for all runs
// and visits (../scripts.py), from the folder that Streamlit's own scripts are from.
const AGAIN_MS = 4000;
const streamlits = document.querySelector('script[src*="/static/js/"]').src;
const site = new URL("../../", streamlits);

// Some browsers keep a failure with its address.
async function fetched(path, nth = 0) {
  try {
    return await import(new URL(nth ? `${path}?again=${nth}` : path, site));
  } catch {
    await new Promise(done => setTimeout(done, AGAIN_MS));
    return fetched(path, nth + 1);
  }
}

const [first, ...others] = await Promise.all("{paths}".split(" ").map(path => fetched(path)));
const show = first.default(site, first, others);

export default function (given) {
  const end = show(given);
  given.parentElement.host.dataset.drawn = ""; // charts wait for the text above them (page.css)
  return end;
}
