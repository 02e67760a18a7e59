// Dialogs that stand in the page only while they are open: closed, they are no second view of it.
export function openDialog(dialog, home) {
  if (dialog.open) return;
  home.append(dialog);
  dialog.showModal();
  dialog.addEventListener("close", () => dialog.remove(), { once: true });
}
