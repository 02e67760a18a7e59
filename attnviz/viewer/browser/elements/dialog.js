// Dialogs that stand in the page only while they are open: closed, they are no second view of it.
export function openDialog(dialog, home) {
  if (dialog.open) return;
  home.append(dialog);
  dialog.showModal();
  dialog.addEventListener("close", leave); // which counts once, however often it is opened
}

// A closing is heard of late: by then it may be open again.
function leave({ currentTarget: dialog }) {
  if (!dialog.open) dialog.remove();
}
