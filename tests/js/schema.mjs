// The schema of what the viewer is given, and data that may be read by it alone.
import { readFileSync } from "node:fs";

const BROWSER = new URL("../../attnviz/ui/viewer/browser/", import.meta.url);
export const SCHEMA = JSON.parse(readFileSync(new URL("payload.schema.json", BROWSER), "utf-8"));

// `data`, of which any field that the schema does not have throws an error when it is read.
export function strict(data, schema = SCHEMA) {
  if (data === null || typeof data !== "object") return data;
  const rules = resolved(schema, data);
  return new Proxy(data, {
    get(target, name) {
      const value = Reflect.get(target, name);
      if (typeof name === "symbol" || typeof value === "function" || name === "toJSON") return value;
      if (!Array.isArray(target)) return strict(value, fieldRules(rules, name));
      return name === "length" ? value : strict(value, rules.prefixItems?.[name] ?? rules.items);
    },
  });
}

function fieldRules(rules, name) {
  if (rules.properties && Object.hasOwn(rules.properties, name)) return rules.properties[name];
  if (typeof rules.additionalProperties === "object") return rules.additionalProperties;
  throw new Error(`The schema knows all that is read of the data; ${name} was read. Write it into payload.schema.json.`);
}

function resolved(schema, data) {
  if (schema.$ref) return resolved(SCHEMA.$defs[schema.$ref.split("/").at(-1)], data);
  const type = Array.isArray(data) ? "array" : "object";
  return schema.anyOf?.map((each) => resolved(each, data)).find((each) => each.type === type) ?? schema;
}
