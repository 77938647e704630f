/** The style of the pages: one sheet, for light and dark, for wide and narrow. */
export const STYLE = `
:root {
  color-scheme: light dark;
  --page: #f5f5f7; --card: #ffffff; --edge: #e3e4e8; --soft: #f0f1f4;
  --text: #17181c; --dim: #5c606b; --faint: #6b6f7b;
  --accent: #4f46e5; --good: #137a3f; --warn: #a15c00; --bad: #c81e2b;
  --good-soft: #e4f5ea; --warn-soft: #fdf1dc; --bad-soft: #fdebec;
  --c0: #4f46e5; --c1: #c81e2b; --c2: #b45309; --c3: #0f766e; --c4: #0369a1; --c5: #137a3f;
  --t0: #4f46e5; --t1: #0f9d8a; --t2: #d97706; --t3: #c026d3; --t4: #0284c7; --t5: #65a30d;
  --shadow: 0 1px 2px rgb(20 22 40 / .05), 0 4px 16px rgb(20 22 40 / .04);
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #0d0e12; --card: #15171d; --edge: #262932; --soft: #1d2028;
    --text: #ecedf2; --dim: #a6abb8; --faint: #8d93a1;
    --accent: #9b9cff; --good: #4cd787; --warn: #f5b647; --bad: #ff7b84;
    --good-soft: #10281a; --warn-soft: #2b2110; --bad-soft: #301519;
    --c0: #8f90ff; --c1: #ff6b75; --c2: #f5b647; --c3: #3ecfb8; --c4: #4fb6f2; --c5: #4cd787;
    --t0: #8f90ff; --t1: #3ecfb8; --t2: #f5b647; --t3: #e879f9; --t4: #4fb6f2; --t5: #a3e635;
    --shadow: none;
  }
}
* { box-sizing: border-box; }
[hidden] { display: none !important; }
html { font: 15px/1.5 ui-sans-serif, system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", "Noto Sans", "Open Sans", sans-serif; -webkit-text-size-adjust: 100%; }
body { margin: 0; background: var(--page); color: var(--text); font-variant-numeric: tabular-nums; min-height: 100vh; }
h1, h2, h3, p, dl, dd, ul, ol { margin: 0; padding: 0; font: inherit; }
ul, ol { list-style: none; }
b { font-weight: 640; }
small { display: block; color: var(--faint); font-size: .8rem; line-height: 1.35; }
a { color: var(--accent); text-decoration: none; }
a:hover { text-decoration: underline; }
pre, kbd, .name, .where, .actor-name { font-family: ui-monospace, "SF Mono", Menlo, Consolas, "Liberation Mono", monospace; font-size: .85rem; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; border-radius: 4px; }
main:focus { outline: none; }
.skip { position: absolute; left: -999px; top: 8px; padding: 4px 12px; background: var(--card); z-index: 9; }
.skip:focus { left: 8px; }

.top { position: sticky; top: 0; z-index: 5; display: flex; align-items: center; gap: 20px; height: 56px; padding: 0 24px; background: var(--card); border-bottom: 1px solid var(--edge); }
.logo { display: flex; align-items: center; gap: 9px; color: var(--text); font-size: 1.05rem; }
.logo:hover { text-decoration: none; }
.logo img { display: block; }
.namespace { color: var(--dim); padding-left: 20px; border-left: 1px solid var(--edge); max-width: 16ch; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
nav { display: flex; gap: 4px; align-self: stretch; }
nav a { display: flex; align-items: center; padding: 2px 12px 0; color: var(--dim); border-bottom: 2px solid transparent; font-weight: 500; }
nav a:hover { color: var(--text); text-decoration: none; }
nav a[aria-current] { color: var(--text); border-color: var(--accent); }
.mood { margin-left: auto; display: flex; align-items: center; gap: 8px; padding: 4px 14px; border-radius: 99px; font-weight: 560; font-size: .9rem; white-space: nowrap; }
.mood:hover { text-decoration: none; }
.mood .dot { width: 8px; height: 8px; border-radius: 50%; background: currentColor; }
.mood.well { color: var(--good); background: var(--good-soft); }
.mood.warn { color: var(--warn); background: var(--warn-soft); }
.mood.bad { color: var(--bad); background: var(--bad-soft); }
.keys { width: 30px; height: 30px; padding: 0; border-radius: 50%; color: var(--dim); }
.problem { padding: 8px 24px; background: var(--bad-soft); color: var(--bad); text-align: center; }

.page { max-width: 1440px; margin: 0 auto; padding: 20px 24px 48px; display: grid; gap: 16px; grid-template-columns: minmax(0, 1fr); }
.card { background: var(--card); border: 1px solid var(--edge); border-radius: 12px; padding: 16px 18px; box-shadow: var(--shadow); min-width: 0; }
.card > header { display: flex; flex-wrap: wrap; align-items: center; gap: 8px 16px; margin-bottom: 12px; min-height: 30px; }
.card h2 { font-weight: 620; font-size: 1rem; margin-right: auto; }
h3 { font-size: .85rem; color: var(--dim); font-weight: 560; }
.pair { display: grid; gap: 16px; grid-template-columns: repeat(auto-fit, minmax(min(100%, 440px), 1fr)); align-items: start; }
.none { color: var(--faint); padding: 8px 0; }
.bad { color: var(--bad); } .good { color: var(--good); }

.verdict { display: flex; align-items: center; gap: 16px; padding: 16px 20px; border-radius: 12px; border: 1px solid var(--edge); background: var(--card); box-shadow: var(--shadow); }
.verdict .sign { display: grid; place-items: center; flex: none; width: 44px; height: 44px; border-radius: 50%; font-size: 1.4rem; font-weight: 700; }
.verdict h1 { font-size: 1.45rem; line-height: 1.25; font-weight: 680; letter-spacing: -.015em; }
.verdict p { color: var(--dim); overflow-wrap: anywhere; }
.verdict.well .sign { color: var(--good); background: var(--good-soft); }
.verdict.warn { border-color: var(--warn); } .verdict.warn .sign { color: var(--warn); background: var(--warn-soft); }
.verdict.bad { border-color: var(--bad); background: var(--bad-soft); } .verdict.bad .sign { color: var(--card); background: var(--bad); } .verdict.bad h1 { color: var(--bad); } .verdict.bad p { color: var(--text); }

.tiles { display: grid; gap: 12px; grid-template-columns: repeat(6, minmax(0, 1fr)); }
.tile { position: relative; overflow: hidden; background: var(--card); border: 1px solid var(--edge); border-radius: 12px; padding: 12px 16px 46px; box-shadow: var(--shadow); }
.tile b { font-size: 1.6rem; line-height: 1.2; letter-spacing: -.02em; font-weight: 660; white-space: nowrap; }
.tile.alarm b { color: var(--bad); }
.tile .spark { position: absolute; left: 0; right: 0; bottom: 6px; width: 100%; height: 34px; }
td .spark { width: 120px; height: 28px; display: block; }

.plot { height: 190px; position: relative; }
.plot svg { display: block; position: absolute; }
.grid { stroke: var(--edge); stroke-width: 1; }
.tick { fill: var(--faint); font-size: 11px; }
.cursor { stroke: var(--dim); stroke-dasharray: 3 3; }
.line { fill: none; stroke: currentColor; stroke-width: 1.75; stroke-linejoin: round; stroke-linecap: round; vector-effect: non-scaling-stroke; }
.area { fill: currentColor; opacity: .13; stroke: none; }
.c0 { color: var(--c0); } .c1 { color: var(--c1); } .c2 { color: var(--c2); } .c3 { color: var(--c3); } .c4 { color: var(--c4); } .c5 { color: var(--c5); }
.tile.c0, .tile.c1, .tile.c2, .tile.c3, .tile.c4, .tile.c5 { color: var(--text); }
.legend { display: flex; flex-wrap: wrap; gap: 4px 16px; font-size: .85rem; }
.key::before { content: ""; display: inline-block; width: 9px; height: 9px; border-radius: 3px; background: currentColor; margin-right: 7px; }
.key, .key b { color: var(--key, var(--text)); }
.legend .key b { color: var(--text); margin-left: 6px; }
.legend .key.c0 { color: var(--c0); } .legend .key.c1 { color: var(--c1); } .legend .key.c2 { color: var(--c2); } .legend .key.c3 { color: var(--c3); }
.when { color: var(--dim); }
.t0 { color: var(--t0); } .t1 { color: var(--t1); } .t2 { color: var(--t2); } .t3 { color: var(--t3); } .t4 { color: var(--t4); } .t5 { color: var(--t5); }

.map { display: grid; gap: 12px; grid-template-columns: repeat(auto-fill, minmax(min(100%, 300px), 1fr)); }
.node { display: flex; flex-direction: column; gap: 10px; padding: 12px 14px; border: 1px solid var(--edge); border-radius: 10px; background: var(--soft); min-width: 0; }
.node header { display: flex; align-items: center; gap: 8px; }
.node h3 { display: flex; align-items: center; gap: 8px; font-size: .92rem; color: var(--text); font-weight: 620; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.node .dot { width: 9px; height: 9px; border-radius: 50%; background: var(--good); flex: none; }
.node .dot.unready { background: var(--warn); } .node .dot.silent, .node .dot.lost { background: var(--bad); }
.badges { display: flex; gap: 4px; }
.badge { font-size: .72rem; padding: 0 7px; border-radius: 99px; border: 1px solid var(--edge); color: var(--dim); background: var(--card); line-height: 1.5; }
.node .state { margin-left: auto; font-size: .82rem; color: var(--dim); white-space: nowrap; }
.node .state.well { color: var(--good); } .node .state.unready { color: var(--warn); }
.node.silent, .node.lost { border-color: var(--bad); background: var(--bad-soft); }
.node .state.silent, .node .state.lost { color: var(--bad); font-weight: 620; }
.node footer { display: flex; flex-wrap: wrap; gap: 2px 16px; color: var(--dim); font-size: .85rem; margin-top: auto; }
.node footer b { color: var(--text); }
.dots svg { display: block; width: 100%; max-width: 360px; }
.dots .more { font-size: .82rem; color: var(--faint); }
.actor { fill: currentColor; opacity: .8; }
.actor.busy { opacity: 1; stroke: currentColor; stroke-width: 2.4; stroke-opacity: .35; }
.actor.waits { stroke: var(--warn); stroke-width: 2.4; stroke-opacity: 1; }
.node.lost .actor, .node.silent .actor { fill: none; stroke: var(--bad); stroke-width: 1.4; opacity: .55; }

.scroll { overflow-x: auto; margin: 0 -18px -8px; padding: 0 18px 8px; }
table { width: 100%; border-collapse: collapse; }
th { text-align: left; font-weight: 520; font-size: .82rem; color: var(--faint); padding: 4px 14px 8px 0; border-bottom: 1px solid var(--edge); white-space: nowrap; }
td { padding: 10px 14px 10px 0; border-bottom: 1px solid var(--edge); vertical-align: top; }
tr:last-child td { border-bottom: 0; }
tr:focus { outline: 2px solid var(--accent); outline-offset: -2px; }
td b.key { white-space: nowrap; }
.meter { width: 60px; height: 6px; margin-right: 8px; vertical-align: middle; }
.rail { fill: var(--edge); } .fill { fill: currentColor; } .fill.good { fill: var(--good); } .fill.bad { fill: var(--bad); }
.pill { display: inline-block; padding: 0 9px; border-radius: 99px; font-size: .82rem; font-weight: 560; background: var(--soft); color: var(--dim); white-space: nowrap; }
.pill.well { background: var(--good-soft); color: var(--good); } .pill.unready, .pill.warn { background: var(--warn-soft); color: var(--warn); }
.pill.silent, .pill.lost { background: var(--bad-soft); color: var(--bad); }

.list > li { display: grid; align-items: baseline; gap: 2px 12px; padding: 8px 0; border-bottom: 1px solid var(--edge); }
.list > li:last-child { border-bottom: 0; }
.troubles > li { grid-template-columns: 136px minmax(0, auto) minmax(0, 1fr) auto 84px; grid-template-areas: "kind name text where time" ". chain chain chain chain"; }
.troubles .kind { grid-area: kind; } .troubles .name { grid-area: name; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; max-width: 30ch; }
.troubles .text { grid-area: text; color: var(--dim); overflow: hidden; text-overflow: ellipsis; display: -webkit-box; -webkit-line-clamp: 2; -webkit-box-orient: vertical; overflow-wrap: anywhere; }
.troubles .chain { grid-area: chain; font-size: .82rem; color: var(--faint); }
.troubles .where { grid-area: where; justify-self: end; color: var(--faint); font-size: .78rem; }
.troubles time, .events time { grid-area: time; color: var(--faint); font-size: .85rem; white-space: nowrap; justify-self: end; }
.count { margin-left: 6px; color: var(--faint); font-weight: 500; } .kind { font-size: .82rem; font-weight: 560; white-space: nowrap; color: var(--dim); }
.k-refused-save, .k-failed-start, .k-overdue-turn, .k-stuck-message, .e-bad { color: var(--bad); }
.k-failed-turn, .k-late-reminder { color: var(--warn); } .e-member { color: var(--c4); }
.events > li { grid-template-columns: 70px 130px 170px minmax(0, auto) minmax(0, 1fr); padding: 5px 0; }
.events time { grid-area: auto; justify-self: start; } .events .where { color: var(--faint); overflow: hidden; text-overflow: ellipsis; }
.events .name { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; max-width: 34ch; } .events .text { color: var(--dim); overflow-wrap: anywhere; }
.turns > li { grid-template-columns: 60px auto 1fr; align-items: center; }

.timeline { font-size: .85rem; }
.timeline li { display: grid; grid-template-columns: minmax(0, 34%) minmax(0, 120px) minmax(0, 1fr) 78px; gap: 10px; align-items: center; padding: 3px 0; }
.timeline .what { display: flex; align-items: baseline; gap: 7px; min-width: 0; }
.timeline .name { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.timeline .kind { flex: none; width: 30px; font-size: .75rem; } .timeline .kind.call { color: var(--c0); } .timeline .kind.turn { color: var(--c3); }
.d1 { padding-left: 12px; } .d2 { padding-left: 24px; } .d3 { padding-left: 36px; } .d4 { padding-left: 48px; } .d5 { padding-left: 60px; } .d6 { padding-left: 72px; } .d7 { padding-left: 84px; } .d8 { padding-left: 96px; }
.timeline .where { color: var(--faint); overflow: hidden; text-overflow: ellipsis; white-space: nowrap; font-size: .78rem; }
.timeline .took { text-align: right; white-space: nowrap; overflow: hidden; text-overflow: ellipsis; }
.track { width: 100%; height: 12px; background: var(--soft); border-radius: 3px; display: block; }
.bar.call { fill: var(--c0); opacity: .55; } .bar.turn { fill: var(--c3); } .bar.failed { fill: var(--c1); opacity: .9; }
.calls h3 { margin: 12px 0 4px; } .calls > .timeline { padding: 6px 0; border-bottom: 1px solid var(--edge); } .calls > .timeline:last-child { border: 0; }
details { border-bottom: 1px solid var(--edge); padding: 6px 0; }
summary { cursor: pointer; display: flex; gap: 16px; align-items: baseline; } summary b { font-family: ui-monospace, Menlo, Consolas, monospace; font-size: .85rem; font-weight: 500; overflow: hidden; text-overflow: ellipsis; } summary time { margin-left: auto; color: var(--faint); }
summary::before { content: "▸"; color: var(--faint); } details[open] > summary::before { content: "▾"; }

input { font: inherit; color: inherit; background: var(--soft); border: 1px solid var(--edge); border-radius: 8px; padding: 5px 12px; min-width: 0; }
input::placeholder { color: var(--faint); }
.card > header input { width: min(100%, 320px); }
button { font: inherit; color: var(--text); background: var(--soft); border: 1px solid var(--edge); border-radius: 8px; padding: 5px 14px; cursor: pointer; }
button:hover { border-color: var(--dim); }
.danger { background: var(--bad); border-color: var(--bad); color: var(--card); font-weight: 600; }
.find { display: flex; gap: 8px; } .find input { flex: 1; font-family: ui-monospace, Menlo, Consolas, monospace; }
.actions form { margin-bottom: 8px; } .outcome { margin-top: 12px; display: grid; gap: 8px; justify-items: start; } .outcome pre { width: 100%; }
.chips { display: flex; flex-wrap: wrap; gap: 6px; } .card > .chips { margin-bottom: 8px; }
.chip { padding: 2px 12px; border-radius: 99px; font-size: .85rem; border: 1px solid var(--edge); background: var(--card); color: var(--dim); }
.chip b { margin-left: 7px; color: var(--text); } .chip:hover { text-decoration: none; color: var(--text); }
.chip[aria-pressed=true], .chip[aria-selected=true] { border-color: var(--accent); color: var(--accent); }
.links { display: grid; gap: 2px 16px; grid-template-columns: repeat(auto-fill, minmax(220px, 1fr)); } .links a { font-family: ui-monospace, Menlo, Consolas, monospace; font-size: .85rem; overflow: hidden; text-overflow: ellipsis; padding: 2px 0; }
.facts { display: grid; gap: 16px; grid-template-columns: minmax(0, 1fr); } .facts:empty { display: none; }
.actor-name { font-size: 1.15rem; font-weight: 640; overflow-wrap: anywhere; }
dl.grid { display: grid; gap: 12px 24px; grid-template-columns: repeat(auto-fill, minmax(130px, 1fr)); }
dt { font-size: .82rem; color: var(--faint); } dd { font-weight: 560; }
.card dl.grid + *, .card .list + p { margin-top: 14px; }
pre { margin: 0; padding: 12px 14px; background: var(--soft); border-radius: 8px; overflow: auto; max-height: 420px; line-height: 1.45; white-space: pre-wrap; overflow-wrap: anywhere; }
.help { border: 1px solid var(--edge); border-radius: 12px; background: var(--card); color: var(--text); padding: 20px 24px; min-width: 300px; }
.help::backdrop { background: rgb(0 0 0 / .4); } .help h2 { font-weight: 640; margin-bottom: 12px; } .help dl.grid { grid-template-columns: 1fr; gap: 6px; margin-bottom: 16px; } .help dl div { display: flex; gap: 16px; } .help dt { width: 64px; } .help dd { font-weight: 400; }
kbd { padding: 1px 7px; border: 1px solid var(--edge); border-radius: 5px; background: var(--soft); white-space: nowrap; }

@media (max-width: 1100px) { .tiles { grid-template-columns: repeat(3, minmax(0, 1fr)); } .namespace { display: none; } .top { gap: 12px; } }
@media (max-width: 760px) {
  .top { height: 50px; padding: 0 14px; } .keys { display: none; } .mood { font-size: .82rem; padding: 3px 12px; }
  nav { position: fixed; left: 0; right: 0; bottom: 0; z-index: 6; gap: 0; background: var(--card); border-top: 1px solid var(--edge); padding-bottom: env(safe-area-inset-bottom); }
  nav a { flex: 1; justify-content: center; padding: 12px 2px; font-size: .8rem; border-bottom: 0; border-top: 2px solid transparent; min-width: 0; }
  .page { padding: 12px 12px 88px; gap: 12px; } .card { padding: 12px 14px; } .scroll { margin: 0 -14px -4px; padding: 0 14px 4px; }
  .verdict { padding: 12px 14px; gap: 12px; } .verdict h1 { font-size: 1.2rem; } .verdict .sign { width: 36px; height: 36px; font-size: 1.1rem; }
  .tiles { grid-template-columns: repeat(2, minmax(0, 1fr)); gap: 8px; } .tile { padding: 8px 12px 40px; } .tile b { font-size: 1.35rem; }
  .plot { height: 150px; }
  .troubles > li { grid-template-columns: minmax(0, 1fr) auto; grid-template-areas: "kind time" "name name" "text text" "chain chain" "where where"; } .troubles .where { justify-self: start; } .troubles .name { max-width: none; }
  .events > li { grid-template-columns: 66px minmax(0, 1fr); } .events .name { max-width: none; } .events .text, .events .name { grid-column: 2; } .events .where { font-size: .75rem; }
  .timeline li { grid-template-columns: minmax(0, 1fr) 70px; gap: 2px 8px; } .timeline .where { display: none; } .timeline .track { grid-column: 1 / -1; grid-row: 2; }
  .card > header input { width: 100%; }
  thead { display: none; } table, tbody, tr { display: block; } tr { padding: 10px 0; border-bottom: 1px solid var(--edge); } tr:last-child { border-bottom: 0; }
  td { display: flex; flex-wrap: wrap; align-items: baseline; padding: 3px 0; border: 0; } td::before { content: attr(data-name); flex: none; width: 100px; color: var(--faint); font-size: .82rem; }
  td small { flex: 1 0 100%; padding-left: 100px; } td .spark { flex: 1; } td.wide::before { content: ""; } .meter { align-self: center; }
}
`
