/** Recorded values in the JSON of the server: their parts, their text, whether two are equal. */
import { commas, pluralize, printable } from "./text.js";

/** The value of a path that one of two runs does not have. */
export const MISSING = Symbol("missing");

const TEXT_MAX = 100_000;
const isObject = (value) => typeof value === "object" && value !== null;
const isTagged = (value, name) => isObject(value) && Object.keys(value).length === 1 && Object.hasOwn(value, name);
const memberOf = (value, name) => (isTagged(value, name) ? value[name] : undefined);
const LEAVES = ["float", "integer", "text", "bytes"];

function arrayOf(value) {
  const found = memberOf(value, "array");
  return Array.isArray(found?.shape) && Array.isArray(found.values) ? found : null;
}

function fieldsOf(value) {
  return isObject(value) && typeof value.type === "string" && isObject(value.fields) && Object.keys(value).length === 2
    ? value.fields
    : null;
}

/** Return the number that a leaf is, or null. */
export function toNumber(value) {
  if (typeof value === "number") return value;
  const text = memberOf(value, "float") ?? memberOf(value, "integer");
  return typeof text === "string" ? Number(text) : null;
}

/** Return whether a value has no parts. */
export const isLeaf = (value, indices = null) => !partsOf(value, indices)?.length;

/** Return the parts of a value as pairs of label and part, or null for a leaf. Parts of arrays keep their indices. */
export function partsOf(value, indices = null) {
  if (indices) return Array.isArray(value) ? value.map((each, at) => [`[${[...indices, at].join(", ")}]`, each]) : null;
  const array = arrayOf(value);
  if (array) return partsOf(array.values, []);
  if (Array.isArray(value)) return value.map((each, at) => [`[${at}]`, each]);
  const set = memberOf(value, "set");
  if (Array.isArray(set)) return set.map((each, at) => [`{${at}}`, each]);
  const map = memberOf(value, "map");
  if (Array.isArray(map)) return map.map((pair) => [`[${textOf(pair[0])}]`, pair[1]]);
  if (!isObject(value) || LEAVES.some((name) => typeof memberOf(value, name) === "string")) return null;
  return Object.entries(fieldsOf(value) ?? value).map(([key, each]) => [toLabel(key), each]);
}

const toLabel = (key) => (/^[\p{L}_][\p{L}\d_]*$/u.test(key) ? `.${key}` : `[${quote(key)}]`);

/** Return whether a value holds the elements of an array, whose paths share one pair of brackets. */
export const isArray = (value) => arrayOf(value) !== null;

/** Return a value on one line; a container is named by its kind and size. */
export function textOf(value) {
  if (value === MISSING) return "(none)";
  if (value === null) return "None";
  if (value === true) return "True";
  if (value === false) return "False";
  if (typeof value === "string") return quote(value);
  if (!isObject(value)) return Object.is(value, -0) ? "-0.0" : String(value);
  const array = arrayOf(value);
  if (array) return `${printable(array.dtype)} [${array.shape.join(", ")}]`;
  if (Array.isArray(value)) return `list of ${commas(value.length)}`;
  const set = memberOf(value, "set");
  if (Array.isArray(set)) return `set of ${commas(set.length)}`;
  const map = memberOf(value, "map");
  if (Array.isArray(map)) return `dict of ${commas(map.length)}`;
  const leaf = LEAVES.map((name) => memberOf(value, name)).find((each) => typeof each === "string");
  if (leaf !== undefined) return `${isTagged(value, "bytes") ? `${pluralize(leaf.length / 2, "byte")}: ` : ""}${leaf}`;
  return fieldsOf(value) ? printable(value.type) : `dict of ${commas(Object.keys(value).length)}`;
}

/** Quote as Python does, so that a path of the page is one of the server. */
function quote(text) {
  const mark = text.includes("'") && !text.includes('"') ? '"' : "'";
  return mark + text.slice(0, TEXT_MAX).replaceAll("\\", "\\\\").replaceAll(mark, `\\${mark}`) + mark;
}

const compared = new WeakMap();

/** Return whether two values are equal; the answer for containers is kept, because trees ask again and again. */
export function isEqual(a, b) {
  if (!isObject(a) || !isObject(b)) return Object.is(a, b);
  if (a === b) return true;
  const known = compared.get(a);
  if (known?.b === b) return known.equal;
  const keys = Object.keys(a);
  const isAlike = Array.isArray(a) === Array.isArray(b) && keys.length === Object.keys(b).length;
  const equal = isAlike && keys.every((key) => Object.hasOwn(b, key) && isEqual(a[key], b[key]));
  compared.set(a, { b, equal });
  return equal;
}
