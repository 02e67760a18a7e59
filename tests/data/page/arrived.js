async (url) => {
  const ours = history.attnviz, isHere = url.startsWith(`${location.origin}/`) && !url.includes("#");
  if (!ours || !isHere || !document.querySelector('IDLE')) return false;
  const { show } = ours;
  const shown = new Promise((done) => {
    ours.show = (now) => {
      show(now);
      done(true);
    };
  });
  History.prototype.pushState.call(history, history.state, "", url);
  dispatchEvent(new PopStateEvent("popstate", { state: history.state }));
  const isShown = await Promise.race([shown, new Promise((done) => setTimeout(done, 3000, false))]);
  ours.show = show;
  return isShown;
}