import { readFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import * as tags from "../serialization/tags.js"
import { viewKinds } from "../serialization/view-kinds.js"
import { advice, refusalCodes } from "./disconnect-reason.js"
import * as frames from "./frames.js"

const page = readFileSync(join(import.meta.dirname, "../../docs/wire.md"), "utf8")

test("the page has every kind of frame, by its number", () => {
  const kinds = Object.entries(frames).filter(([name]) => /^[A-Z]+$/.test(name))
  expect(kinds.length).toBe(16)
  expect(rows(/^\| `(0x[0-2].)` \| `([A-Z]+)` +\|/gm)).toEqual(kinds.toSorted(byNumber))
})

test("the page has every tag that has a name, by its number", () => {
  const ranges = ["SHORT_TEXT", "SHORT_ARRAY", "SHORT_OBJECT", "MOST_SHORT_TEXT", "MOST_SHORT_COUNT"]
  const named = Object.entries(tags).filter(([name]) => !ranges.includes(name))
  const written = rows(/^\| `(0x[c-f].)` +\| `([A-Z0-9_]+)` +\|/gm)
  expect(written).toEqual(named.toSorted(byNumber))
  for (const from of [tags.SHORT_TEXT, tags.SHORT_ARRAY, tags.SHORT_OBJECT]) {
    expect(page).toContain(`| \`0x${from.toString(16)}\` to `)
  }
})

test("the page has every reason of a refusal, by its number", () => {
  for (const [reason, code] of Object.entries(refusalCodes)) {
    expect(page).toMatch(new RegExp(`\\| \`${reason}\` +\\| ${code} +\\|`))
  }
})

test("the page has every reason for which a connection is closed", () => {
  for (const reason of Object.keys(advice)) expect(page).toContain(`\`${reason}\``)
})

test("the page has every kind of view, by its place", () => {
  for (const [place, { name }] of viewKinds.entries()) {
    if (place > 0) expect(page.replaceAll("\n", " ")).toContain(`${place} \`${name}\``)
  }
})

test("the page has the limits and the version", () => {
  const text = page.replaceAll(/\s+/g, " ")
  const said = (number: number) => number.toLocaleString("en-US")
  expect(text).toContain(`This is version ${frames.PROTOCOL_VERSION}.`)
  expect(text).toContain(
    `| a body before the handshake is over | ${said(frames.MAX_HANDSHAKE_BYTES)} bytes |`,
  )
  expect(text).toContain(`| names in each direction | ${said(frames.MAX_NAMES)} |`)
  expect(text).toContain(`refs | ${said(frames.MAX_NAME_BYTES)} bytes |`)
  expect(text).toContain(`watches on another | ${said(frames.MAX_WATCHES)},`)
  expect(text).toContain(`open on another | ${said(frames.MAX_OPEN_QUESTIONS)},`)
  expect(text).toContain(`a message and ${frames.BATCH_ALLOWANCE_BYTES / 1024} KiB`)
  expect(text).toContain(`that has reached ${frames.BATCH_BYTES / 1024} KiB`)
})

/** Name and number of each row of a table. */
function rows(pattern: RegExp): [string, number][] {
  return [...page.matchAll(pattern)].map(([, number = "", name = ""]) => [name, Number(number)])
}

function byNumber([, a]: readonly unknown[], [, b]: readonly unknown[]): number {
  return (a as number) - (b as number)
}
