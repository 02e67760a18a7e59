// Checkpoints: which of a training's is shown, which is asked for, and Play, which asks for one after the other.

const PAUSE_MS = 700; // that one looks at a checkpoint while it plays

// ask(index) reaches the server, or is false where there is none; show() is called as what it says here becomes another.
export function makeCheckpoints(ask, show) {
  let training = null,
    wanted = null,
    isRunning = false,
    timer = null;
  const last = () => training.checkpoints.length - 1;
  const shown = () => wanted ?? training.at;
  const want = index => {
    if (index !== shown() && ask(index) === false) stop();
    else wanted = index;
    show();
  };
  const stop = () => {
    clearTimeout(timer);
    isRunning = false;
  };
  const checkpoints = {
    get isRunning() {
      return isRunning;
    },
    get shown() {
      return shown();
    },
    to: index => {
      stop();
      want(index);
    },
    play: () => {
      isRunning = true;
      want(shown() === last() ? 0 : shown() + 1);
    },
    pause: () => {
      stop();
      show();
    },
    // The training of the present document: what was asked for may have come, or another model.
    arrive: now => {
      const isSame = String(training?.curve) === String(now.curve);
      const isAnswered = wanted === now.at;
      training = now;
      if (!isSame) stop();
      if (!isSame || isAnswered) wanted = null;
      if (!isRunning || !isAnswered) return;
      if (now.at === last()) stop();
      else timer = setTimeout(() => want(now.at + 1), PAUSE_MS);
    },
    end: stop,
  };
  return checkpoints;
}
