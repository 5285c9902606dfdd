/** Text of records, made safe to look at, and numbers for people. */

// As Python's str.isprintable: control, bidirectional and unassigned characters could change how other text looks.
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}]|(?! )\p{Zs}/gu;
const SHORT = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };

function escape(character) {
  if (character in SHORT) return SHORT[character];
  const code = character.codePointAt(0);
  const [mark, width] = code < 256 ? ["\\x", 2] : code < 65536 ? ["\\u", 4] : ["\\U", 8];
  return mark + code.toString(16).padStart(width, "0");
}

/** Return a text on one line; characters that a page would interpret become escapes. */
export const printable = (text) => String(text).replace(UNPRINTABLE, escape);

/** Return a text of several lines, each made printable, with its tabs. */
export const printableLines = (text) =>
  String(text).replace(UNPRINTABLE, (each) => (each === "\n" || each === "\t" ? each : escape(each)));

/** Return a path as a word of a shell: a stranger may have named the file. */
export const quotePath = (path) => (/^[\w@%+=:,./-]+$/.test(path) ? path : `'${path.replaceAll("'", `'"'"'`)}'`);

/** Return a number with commas. */
export const commas = (number) => number.toLocaleString("en-US");

/** Return the name of a tick: "tick 14", or "construction" for the one before all others. */
export const nameTick = (tick) => (tick < 0 ? "construction" : `tick ${commas(tick)}`);

/** Return a number before its noun: "1 tick", "2,000 ticks". */
export const pluralize = (number, singular, plural = `${singular}s`) =>
  `${commas(number)} ${number === 1 ? singular : plural}`;
