(table) => {
  const read = (cell) => {
    if (cell.role === "gridcell") cell.dispatchEvent(new Event("focus")); // some have a name only while they are heard
    const heard = cell.ariaLabel ?? "";
    if (cell.role === "gridcell") cell.dispatchEvent(new Event("blur"));
    const { localName, className, dataset, firstChild } = cell, was = cell.querySelector("s")?.textContent ?? "";
    const text = firstChild?.nodeType === Node.TEXT_NODE ? firstChild.data : cell.textContent;
    return [localName, className, dataset.cell ?? "", text, heard, was];
  };
  return [...table.querySelectorAll(":scope > tr")].map((line) => [line.className, [...line.children].map(read)]);
}