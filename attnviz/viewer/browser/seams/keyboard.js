// The keyboard: Streamlit's dialog on a lost server takes it from whoever types, and as it closes gives it to nobody.

// Returns a function that gives it back to what had it in `root`.
export function keepKeyboard(root) {
  let held = null;
  root.addEventListener("focusin", () => {
    held = null;
  });
  root.addEventListener("focusout", ({ target, relatedTarget }) => {
    held = relatedTarget?.closest('[role="dialog"]') ? target : null;
  });
  return () => {
    if (document.activeElement === document.body) held?.focus({ preventScroll: true });
  };
}
