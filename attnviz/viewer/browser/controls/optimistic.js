// Optimistic: what a control shows. That is what somebody has picked as long as acts have no answer, else what the server says.

export function makeOptimistic() {
  let picked = null;
  return {
    pick: value => {
      picked = { value };
      return value;
    },
    now: (value, isWaiting) => {
      if (!isWaiting) picked = null;
      return picked ? picked.value : value;
    },
  };
}
