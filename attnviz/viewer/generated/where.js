// Made by `python -m attnviz.contract.typescript`. Change it in Python.
export const PARAMETERS = /** @type {const} */ (["step", "cell", "picked", "trail", "ask", "order", "view", "present", "reveal", "compare", "route"]);
export const CHOICES = /** @type {const} */ ({"ask": ["made", "slope", "whatif"], "order": ["large", "index"], "view": ["matrices", "sheet", "heads"], "compare": ["both", "difference"], "route": ["short", "every-step"]});
export const LABELS = /** @type {const} */ ({"made": "what made it", "slope": "what would move it", "whatif": "what if", "large": "large ones first", "index": "in order", "short": "Short", "every-step": "Every step"});
export const FORMER = /** @type {const} */ ({"what made it": "made", "what would move it": "slope", "what if": "whatif", "large ones first": "large", "in order": "index", "every step": "every-step"});
export const COORDINATES = /** @type {const} */ (["head", "query", "key", "feature", "dimension", "answer", "neuron"]);
export const USUAL = /** @type {const} */ ({"view": "matrices", "reveal": null});
export const USUAL_IN_TALK = /** @type {const} */ ({"view": "sheet", "reveal": 0});
export const ALL = /** @type {const} */ ("all");
export const CELL = /^(?:(?<stage>[a-z][a-z0-9_]{0,31})\[(?<index>[0-9]{1,4}(?:,[0-9]{1,4}){0,3})\])$/;
export const PLACE = /^(?:[1-9][0-9]{0,3})$/;
export const REVEAL = /^(?:0|[1-9][0-9]?)$/;
