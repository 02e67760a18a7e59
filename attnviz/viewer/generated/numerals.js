// Made by `python -m attnviz.contract.typescript`. Change it in Python.
export const ORDINALS = /** @type {const} */ (["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "eleventh", "twelfth"]);
