// Has a test's own clock run timeouts, in node 18, which Debian 12 has, and in newer ones, where it is asked for otherwise.
export function mockTimeouts({ timers }) {
  const apis = ["setTimeout"];
  try {
    timers.enable({ apis });
  } catch {
    timers.enable(apis);
  }
}
