/**
 * Bundle the page into `src/twice/view/static`.
 *
 * The bundle begins with the SHA-256 of the files it was made of: of the lines `digest  path`, sorted by path.
 * `tests/view/test_bundle.py` computes it again, so that a bundle older than its sources is found without node.
 */
import { createHash } from "node:crypto";
import { copyFileSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const REPOSITORY = fileURLToPath(new URL("..", import.meta.url));
const STATIC = `${REPOSITORY}src/twice/view/static/`;
const read = (path) => readFileSync(REPOSITORY + path);
const digest = (data) => createHash("sha256").update(data).digest("hex");

const sources = [
  "frontend/build.mjs",
  "frontend/package-lock.json",
  "src/twice/report/templates/style.css",
  ...readdirSync(`${REPOSITORY}frontend/src`).map((name) => `frontend/src/${name}`),
].sort();
const seal = digest(sources.map((path) => `${digest(read(path))}  ${path}\n`).join(""));
const licence = read("frontend/node_modules/uplot/LICENSE").toString().trim();
const banner = `/* sources sha256:${seal}\n\nThis bundle holds uPlot, https://github.com/leeoniya/uPlot\n\n${licence}\n*/`;

mkdirSync(STATIC, { recursive: true });
copyFileSync(`${REPOSITORY}frontend/src/index.html`, `${STATIC}index.html`);
await build({
  absWorkingDir: `${REPOSITORY}frontend`,
  entryPoints: { view: "src/page.js" },
  bundle: true,
  minify: true,
  format: "iife",
  target: "es2022",
  outdir: STATIC,
  banner: { js: banner, css: banner },
  legalComments: "none", // the banner holds the licence whole
});
