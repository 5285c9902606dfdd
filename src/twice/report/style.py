"""The style of every page: light and dark by the reader's setting, one column on a phone.

Invariant: no rule names a font, image or address outside of the page.
"""

from __future__ import annotations

from typing import Final

STYLE: Final = """
:root {
  --paper: #fbfaf7; --card: #ffffff; --ink: #1d2126; --soft: #5d6670; --line: #dfe1e4;
  --v1: #cfe0f1; --v2: #94bce2; --v3: #4d8cc8; --v4: #1f5f9e; --mark: #c8362b;
  --good: #1f7a4d; --bad: #c8362b; --unsure: #9a6700; --code: #f3f2ee; --lit: #fde9e6;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #15181c; --card: #1d2127; --ink: #e6e8ea; --soft: #9aa4ae; --line: #333941;
    --v1: #20364c; --v2: #2b5a88; --v3: #4a8dcc; --v4: #93c4f2; --mark: #ff7a6b;
    --good: #57c38b; --bad: #ff7a6b; --unsure: #e0b04c; --code: #171a1f; --lit: #43211d;
  }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink);
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif; }
main { max-width: 1080px; margin: 0 auto; padding: 32px 24px 64px; }
header { border-left: 6px solid var(--soft); padding: 2px 0 2px 18px; margin-bottom: 28px; }
header.good { border-color: var(--good); } header.bad { border-color: var(--bad); }
header.unsure { border-color: var(--unsure); }
.verdict { font-size: 15px; font-weight: 700; letter-spacing: .02em; margin: 0; }
.good .verdict { color: var(--good); } .bad .verdict { color: var(--bad); }
.unsure .verdict { color: var(--unsure); }
h1 { font-size: 27px; line-height: 1.25; margin: 2px 0 6px; overflow-wrap: anywhere; }
h2 { font-size: 18px; margin: 0 0 6px; }
h3 { font-size: 15px; margin: 18px 0 6px; }
header p { margin: 4px 0; color: var(--soft); overflow-wrap: anywhere; }
section { background: var(--card); border: 1px solid var(--line); border-radius: 10px;
  padding: 18px 20px; margin: 16px 0; }
.note { color: var(--soft); margin: 0 0 12px; font-size: 14px; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: 14px; }
th { text-align: left; color: var(--soft); font-weight: 600; white-space: nowrap; }
th, td { padding: 5px 14px 5px 0; border-bottom: 1px solid var(--line); vertical-align: top;
  overflow-wrap: anywhere; }
td { min-width: 5em; } td:first-child { min-width: 7em; }
tr:last-child td { border-bottom: 0; }
dl { display: grid; grid-template-columns: 9em 1fr; gap: 4px 16px; margin: 0; font-size: 14px; }
dt { color: var(--soft); } dd { margin: 0; overflow-wrap: anywhere; }
pre, code { font-family: ui-monospace, "Cascadia Mono", "DejaVu Sans Mono", monospace;
  font-size: 13px; }
pre { background: var(--code); border-radius: 6px; padding: 10px 12px; overflow-x: auto;
  margin: 8px 0; }
pre .row { display: block; } pre .lit { background: var(--lit); font-weight: 700; }
pre .number { color: var(--soft); display: inline-block; min-width: 4em; }
.values { display: grid; grid-template-columns: 1fr 1fr; gap: 12px; margin: 12px 0 0; }
.values div { background: var(--code); border-radius: 6px; padding: 8px 12px;
  overflow-wrap: anywhere; }
.values b { display: block; color: var(--soft); font-size: 13px; font-weight: 600; }
.strip { display: grid; grid-template-columns: 160px 1fr 96px; gap: 10px; align-items: center;
  margin: 3px 0; font-size: 14px; }
.strip .name { overflow-wrap: anywhere; } .strip .count { color: var(--soft); font-size: 13px; }
.strip svg { width: 100%; height: 18px; display: block; background: var(--code);
  border-radius: 3px; }
.axis { color: var(--soft); font-size: 13px; }
.axis .ends { display: flex; justify-content: space-between; }
.v1 { fill: var(--v1); } .v2 { fill: var(--v2); } .v3 { fill: var(--v3); } .v4 { fill: var(--v4); }
.mark { fill: var(--mark); }
.key { display: flex; flex-wrap: wrap; gap: 4px 18px; color: var(--soft); font-size: 13px;
  margin-top: 10px; }
.key svg { width: 14px; height: 12px; margin-right: 6px; vertical-align: -1px; }
.channel { margin: 10px 0; } .channel p { margin: 2px 0; }
.channel svg { width: 160px; height: 8px; background: var(--code); border-radius: 4px;
  margin-left: 10px; }
.soft { color: var(--soft); } section p:last-child { margin-bottom: 0; } .next { color: var(--soft); }
.next code { color: var(--ink); background: var(--code); padding: 3px 8px; border-radius: 6px;
  overflow-wrap: anywhere; }
.tag { display: inline-block; border: 1px solid currentColor; border-radius: 4px; padding: 0 6px;
  font-size: 13px; font-weight: 600; white-space: nowrap; }
.tag.bad { color: var(--bad); } .tag.unsure { color: var(--unsure); }
.tag.good { color: var(--good); }
section ol, section ul { margin: 6px 0; padding-left: 22px; } section li { margin: 5px 0; }
section li { overflow-wrap: anywhere; font-size: 15px; } section h3 + p { margin-top: 0; }
@media (max-width: 640px) {
  main { padding: 18px 12px 40px; } section { padding: 14px 12px; } h1 { font-size: 21px; }
  .strip { grid-template-columns: 1fr auto; gap: 0 10px; margin: 8px 0; }
  .strip .picture { grid-column: 1 / -1; grid-row: 2; }
  .axis .name, .axis .count { display: none; }
  table { min-width: 560px; } table.broad { min-width: 860px; }
  dl { grid-template-columns: 1fr; gap: 0; } dd { margin-bottom: 8px; }
  .values { grid-template-columns: 1fr; }
}
"""
