// The print dialog: whether the sheet is printed with all numbers, or as a worksheet and its key.
import { button } from "../elements/button.js";
import { element } from "../elements/element.js";

// print(from) prints, with the numbers left out from that band on if there is one.
export function makePrintDialog(print) {
  const box = element("dialog", "print-dialog asks"),
    label = element("label", "", "Numbers left out from "),
    from = element("select");
  box.setAttribute("aria-label", "Print");
  const act = run => () => {
    box.close();
    run();
  };
  label.append(from, " on");
  const whole = element("p"),
    sheet = element("p"),
    end = element("p");
  whole.append(
    button(
      "With all numbers",
      act(() => print()),
      "primary",
    ),
  );
  sheet.append(
    button(
      "Worksheet and key",
      act(() => print(from.value)),
    ),
    label,
  );
  end.append(button("Close", () => box.close()));
  box.append(element("h3", "", "Print the sheet"), whole, sheet, end);
  return {
    element: box,
    // `bands` are the labels of those that it can begin with; the one chosen last stays, where it is among them.
    open(bands) {
      const chosen = from.value;
      from.replaceChildren(...bands.map(band => element("option", "", band)));
      if (bands.includes(chosen)) from.value = chosen;
      sheet.hidden = !bands.length;
      box.showModal();
    },
  };
}
