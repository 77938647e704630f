import { readdirSync, readFileSync } from "node:fs"
import { STYLE } from "./style.js"

/** The files of the page. All are small, and are read once, at the first visit. */
export class Assets {
  #files: ReadonlyMap<string, Asset> | undefined

  /** Throws an `Error` if the scripts are not beside this module. */
  get(name: string): Asset | undefined {
    this.#files ??= read()
    return this.#files.get(name)
  }
}

interface Asset {
  readonly type: string
  readonly body: string
}

function read(): ReadonlyMap<string, Asset> {
  const files = new Map<string, Asset>([
    ["", { type: "text/html; charset=utf-8", body: PAGE }],
    ["style.css", { type: "text/css; charset=utf-8", body: STYLE }],
    ["icon.svg", { type: "image/svg+xml", body: ICON }],
  ])
  const folder = new URL("./web/", import.meta.url)
  for (const name of readdirSync(folder)) {
    if (!name.endsWith(".js")) continue
    const body = readFileSync(new URL(name, folder), "utf8").replace(/^\/\/# sourceMappingURL=.*$/m, "")
    files.set(`web/${name}`, { type: "text/javascript; charset=utf-8", body })
  }
  if (files.has("web/main.js")) return files
  throw new Error(
    `the scripts of the dashboard are not in ${folder}; keep troupe external if you bundle your program, or run npm run build`,
  )
}

const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Troupe</title>
<link rel="icon" href="icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="style.css">
<script type="module" src="web/main.js"></script>
</head>
<body>
<noscript>The dashboard needs JavaScript.</noscript>
</body>
</html>
`

const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="8" fill="#4f46e5"/><g fill="#fff"><circle cx="16" cy="9" r="3.4"/><circle cx="9" cy="21" r="3.4"/><circle cx="23" cy="21" r="3.4"/></g><path d="M16 9 9 21h14z" fill="none" stroke="#fff" stroke-width="1.6" opacity=".6"/></svg>`
