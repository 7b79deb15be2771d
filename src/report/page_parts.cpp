#include "report/page_parts.h"

namespace penumbra::report {

// The series-* variables are the chart's palette (chart.cpp has the light one as its fallback).
const std::string_view page_style = R"css(
:root {
  color-scheme: light dark;
  --ground: #f4f5f7; --card: #ffffff; --ink: #1b1f24; --quiet: #57606a; --edge: #d8dce1;
  --grid: #e6e8ec; --frame: #8b949e; --link: #1d5fa8;
  --good: #1a7f4b; --note: #3d6ea5; --warning: #9a6200; --bad: #b3261e;
  --good-tint: #e3f4ea; --note-tint: #e6eff9; --warning-tint: #fbf0d9; --bad-tint: #fbe6e4;
}
@media screen and (prefers-color-scheme: dark) {
  :root {
    --ground: #101418; --card: #191e24; --ink: #e6e9ed; --quiet: #9da7b3; --edge: #2f363e;
    --grid: #2a3138; --frame: #6b7682; --link: #7fb4ee;
    --good: #6fd39b; --note: #8fbcf0; --warning: #e8b65a; --bad: #f28b82;
    --good-tint: #15301f; --note-tint: #17283b; --warning-tint: #33270f; --bad-tint: #3a1b19;
    --series-0: #6aaaf0; --series-1: #f0a05c; --series-2: #55c9a6;
    --series-3: #c39aea; --series-4: #f08aa6; --series-5: #a8b0bb;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0; background: var(--ground); color: var(--ink);
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif;
}
main { max-width: 1160px; margin: 0 auto; padding: 2rem 1.25rem 3rem; overflow-wrap: anywhere; }
h1 { font-size: 1.75rem; line-height: 1.2; margin: 0; letter-spacing: -0.01em; }
h2 { font-size: 1.25rem; margin: 2.75rem 0 0.25rem; padding-top: 1rem; border-top: 1px solid var(--edge); }
p { margin: 0.4rem 0 0.8rem; max-width: 75ch; }
a { color: var(--link); }
.subtitle, .lead, figcaption, .bar { color: var(--quiet); }
.subtitle { margin: 0.3rem 0 1rem; }
nav { margin: 1rem 0 0; font-size: 0.9rem; display: flex; flex-wrap: wrap; gap: 0.25rem 1.1rem; }
nav a { text-decoration: none; }
nav a:hover, .save:hover { text-decoration: underline; }
.verdict {
  border: 1px solid var(--edge); border-left: 6px solid var(--tone); background: var(--tint);
  border-radius: 8px; padding: 0.8rem 1rem;
}
.verdict p { margin: 0; font-size: 1.1rem; max-width: none; }
.badges { display: flex; flex-wrap: wrap; gap: 0.4rem; margin-top: 0.6rem; }
.badge {
  display: inline-block; padding: 0 0.6em; border-radius: 1em; font-size: 0.82rem; font-weight: 600;
  line-height: 1.6; color: var(--tone); background: var(--tint); border: 1px solid var(--tone);
}
.badge::before { content: var(--sign) "\2002"; }
.good { --tone: var(--good); --tint: var(--good-tint); --sign: "\2713"; }
.note { --tone: var(--note); --tint: var(--note-tint); --sign: "i"; }
.warning { --tone: var(--warning); --tint: var(--warning-tint); --sign: "!"; }
.bad { --tone: var(--bad); --tint: var(--bad-tint); --sign: "\2717"; }
.figures { display: grid; gap: 1rem; margin: 0.8rem 0; align-items: start; }
.small { grid-template-columns: repeat(auto-fill, minmax(min(46%, 150px), 1fr)); }
.medium { grid-template-columns: repeat(auto-fill, minmax(min(100%, 280px), 1fr)); }
.large { grid-template-columns: repeat(auto-fill, minmax(min(100%, 440px), 1fr)); }
.full figure { overflow-x: auto; }
.full figure > svg { min-width: 720px; }
figure {
  margin: 0; padding: 0.8rem; background: var(--card); border: 1px solid var(--edge); border-radius: 8px;
  break-inside: avoid; min-width: 0;
}
.small figure { padding: 0.5rem; }
figure header { display: flex; justify-content: space-between; gap: 0.6rem; align-items: baseline; }
figure header { margin-bottom: 0.45rem; font-size: 0.95rem; }
.save { font: inherit; font-size: 0.78rem; white-space: nowrap; color: var(--link); text-decoration: none; }
button.save { border: 0; background: none; padding: 0; cursor: pointer; }
img { display: block; width: 100%; height: auto; border-radius: 3px; }
.image { position: relative; }
.marks { position: absolute; inset: 0; width: 100%; height: 100%; font-size: 5px; font-weight: 600; fill: #fff; }
.marks path { fill: none; stroke: #fff; stroke-width: 0.8; }
.marks text { paint-order: stroke; stroke: #000; stroke-width: 0.6; stroke-linejoin: round; }
img.pixels { image-rendering: pixelated; }
figure > svg { display: block; width: 100%; height: auto; }
figcaption { font-size: 0.85rem; line-height: 1.4; margin-top: 0.45rem; }
.small figcaption { font-size: 0.75rem; }
.scale { height: 9px; border-radius: 2px; margin-top: 0.5rem; }
.scale, .badge, .verdict { -webkit-print-color-adjust: exact; print-color-adjust: exact; }
.bar { display: flex; justify-content: space-between; font-size: 0.75rem; font-variant-numeric: tabular-nums; }
.scroll { overflow-x: auto; margin: 0.8rem 0; }
table { border-collapse: collapse; background: var(--card); border: 1px solid var(--edge); font-size: 0.92rem; }
th, td { text-align: left; vertical-align: top; padding: 0.4rem 0.8rem; border-bottom: 1px solid var(--edge); }
/* "anywhere" would let a narrow column break its numbers; a wide table scrolls instead. */
th, td { overflow-wrap: break-word; }
.short { white-space: nowrap; }
th { font-weight: 600; }
thead th { color: var(--quiet); font-size: 0.82rem; }
tr:last-child > * { border-bottom: 0; }
.numbers td { text-align: right; font-variant-numeric: tabular-nums; }
.numbers thead th:not(:first-child) { text-align: right; }
.findings { list-style: none; margin: 0.8rem 0; padding: 0; }
.findings li { display: flex; gap: 0.7rem; padding: 0.3rem 0; align-items: baseline; }
.findings .badge { flex: none; min-width: 9.5em; }
pre {
  background: var(--card); border: 1px solid var(--edge); border-radius: 6px; padding: 0.7rem 0.9rem; margin: 0.8rem 0;
  overflow-x: auto; font: 0.82rem/1.45 ui-monospace, "DejaVu Sans Mono", monospace; overflow-wrap: normal;
}
details { margin: 0.8rem 0; }
summary { cursor: pointer; color: var(--link); font-weight: 600; }
@media (max-width: 560px) {
  body { font-size: 15px; }
  main { padding: 1.1rem 0.8rem 2rem; }
  h1 { font-size: 1.4rem; }
  .findings li { display: block; }
  .findings .badge { min-width: 0; }
  th, td { padding: 0.35rem 0.5rem; }
  /* A table of words becomes a card for each row: three columns of words do not fit a phone. */
  .words thead { display: none; }
  .words, .words tbody, .words tr, .words td, .words th { display: block; width: 100%; border-bottom: 0; }
  .words tr { border-bottom: 1px solid var(--edge); padding: 0.3rem 0; }
  .words td, .words th { padding: 0.1rem 0.7rem; }
  .words td[data-head]::before { content: attr(data-head) ": "; color: var(--quiet); font-size: 0.85em; }
}
@media print {
  body { font-size: 10pt; background: #fff; }
  main { max-width: none; padding: 0; }
  nav, .save { display: none; }
  h2 { break-after: avoid; }
  .medium { grid-template-columns: repeat(3, 1fr); }
  .large { grid-template-columns: repeat(2, 1fr); }
  .small { grid-template-columns: repeat(6, 1fr); }
  pre { white-space: pre-wrap; overflow-wrap: anywhere; }
}
)css";

const std::string_view page_script = R"js(
"use strict";
for (const link of document.querySelectorAll("a.save")) {
  link.href = link.closest("figure").querySelector("img").src;
  link.hidden = false;
}
for (const button of document.querySelectorAll("button.save")) {
  button.hidden = false;
  button.addEventListener("click", () => {
    const svg = button.closest("figure").querySelector("svg").cloneNode(true);
    svg.setAttribute("width", svg.viewBox.baseVal.width);
    svg.setAttribute("height", svg.viewBox.baseVal.height);
    const colours = /var\(--[a-z0-9-]+, ?(#[0-9a-f]{6})\)/g;
    const text = new XMLSerializer().serializeToString(svg).replace(colours, "$1");
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], {type: "image/svg+xml"}));
    link.download = button.dataset.name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  });
}
let folded = [];
addEventListener("beforeprint", () => {
  folded = [...document.querySelectorAll("details:not([open])")];
  for (const part of folded) part.open = true;
});
addEventListener("afterprint", () => { for (const part of folded) part.open = false; });
)js";

}  // namespace penumbra::report
