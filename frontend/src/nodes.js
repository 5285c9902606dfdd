/** Nodes of a state: a value of one run, or two values of two runs, at one path. */
import { isArray, isEqual, isLeaf, MISSING, partsOf, textOf } from "./values.js";

const SEARCHED_MAX = 200_000;

/** Return the components of one or two states as nodes. */
export function toRoots(states) {
  const root = { path: "", level: 0, sides: states, indices: null };
  return join(root, states.map((state) => Object.entries(state)), "");
}

/** Return the children of a node, those of both sides in one order. */
export function childrenOf(node) {
  const inArray = node.indices ?? (node.sides.some(isArray) ? [] : null);
  const lists = node.sides.map((value) => (value === MISSING ? null : partsOf(value, node.indices)) ?? []);
  return join({ ...node, indices: inArray }, lists, node.indices ? node.base : node.path);
}

function join(parent, lists, base) {
  const found = new Map();
  lists.forEach((list, side) => {
    for (const [label, value] of list) {
      if (!found.has(label)) found.set(label, lists.map(() => MISSING));
      found.get(label)[side] = value;
    }
  });
  return [...found].map(([label, sides], at) => ({
    label, sides, base,
    path: base + label,
    level: parent.level + 1,
    indices: parent.indices && [...parent.indices, at],
    position: at + 1,
    siblings: found.size,
  }));
}

/** Return whether a node has no children. */
export const isLeafNode = (node) => node.sides.every((value) => isLeaf(value, node.indices));

/** Return whether the two sides of a node differ. */
export const hasDifference = ({ sides }) => sides.length === 2 && !isEqual(...sides);

/** Return the leaves that hold a query in path or text, of two runs only differing ones if asked; at most a limit. */
export function searchLeaves(roots, query, onlyDiffering, limit) {
  const texts = (node) => [node.path, ...node.sides.map(textOf)];
  const wanted = query.toLowerCase();
  const found = [];
  let left = SEARCHED_MAX;
  const walk = (nodes) => {
    for (const node of nodes) {
      if (found.length >= limit || left-- <= 0) return;
      if (onlyDiffering && !hasDifference(node)) continue;
      const before = found.length;
      if (!isLeafNode(node)) walk(childrenOf(node));
      // Containers can differ in kind alone, such as arrays of two types with equal elements.
      const isAsked = isLeafNode(node) || (onlyDiffering && found.length === before);
      if (isAsked && texts(node).some((text) => text.toLowerCase().includes(wanted))) found.push(node);
    }
  };
  walk(roots);
  return { found, isWhole: found.length < limit && left > 0 };
}
