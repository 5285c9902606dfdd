/** Nodes of a state: what one run, or each of two, has at a path. The server made the parts (`state_tree.py`). */

/** The side of a run that has no such part, and of one that may have it among the parts that are not shown. */
const MISSING = { text: "(none)" };
const UNSHOWN = { text: "(not shown)", size: 1 };
const SEARCHED_MAX = 200_000;

/** Return whether some parts of a value are not shown. */
export const isCut = ({ size = 0, parts = [] }) => parts.length < size;

/** Return the components of one or two states as nodes. */
export const toRoots = (states) => childrenOf({ path: "", level: 0, sides: states });

/** Return the children of a node, those of both sides in one order. */
export function childrenOf({ path, level, sides }) {
  const found = new Map();
  sides.forEach(({ parts = [] }, side) => {
    for (const part of parts) {
      if (!found.has(part.label)) found.set(part.label, sides.map((each) => (isCut(each) ? UNSHOWN : MISSING)));
      found.get(part.label)[side] = part;
    }
  });
  return [...found].map(([label, parts], at) => ({
    label,
    sides: parts,
    component: level === 0 && label,
    // In one of two runs a component may need brackets around its name, which it can have in both.
    path: parts.find((each) => each.path && each.path !== label)?.path ?? path + label,
    level: level + 1,
    position: at + 1,
    siblings: found.size,
  }));
}

/** Return whether a node has no children. */
export const isLeafNode = ({ sides }) => sides.every(({ parts = [] }) => !parts.length);

/** Return whether the two sides of a node differ, by the marks of their whole values; a side not shown is not known. */
export const hasDifference = ({ sides }) =>
  sides.length === 2 && !sides.includes(UNSHOWN) && sides[0].mark !== sides[1].mark;

/** Return whether two values differ, and their texts do not: in a part that is cut, or in their types. */
export const isHidden = (node) => hasDifference(node) && isLeafNode(node) && findParting(node) < 0;

/** Return where the texts of two sides begin to differ, or -1. */
export function findParting({ sides: [{ text: one }, { text: two }] }) {
  let at = 0;
  while (at < one.length && one[at] === two[at]) at++;
  return one === two ? -1 : at;
}

/**
 * Return the leaves that hold a query in path or text, of two runs only differing ones if asked; at most a limit.
 *
 * A value of which parts are not shown is found as well, because a difference may be among them.
 */
export function searchLeaves(roots, query, onlyDiffering, limit) {
  const texts = ({ path, sides }) => [path, ...sides.map(({ text }) => text)];
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
      const hasMore = found.length === before || node.sides.some(isCut);
      const isAsked = isLeafNode(node) || (onlyDiffering && hasMore);
      if (isAsked && texts(node).some((text) => text.toLowerCase().includes(wanted))) found.push(node);
    }
  };
  walk(roots);
  return { found, isWhole: found.length < limit && left > 0 };
}
