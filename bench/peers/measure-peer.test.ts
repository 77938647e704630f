import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, it } from "vitest"
import { complaintIn, measurePeer } from "./measure-peer.js"
import { peerNactQuery1 } from "./nact.js"

it("is a row that says so when a peer does not run", async () => {
  const folder = mkdtempSync(join(tmpdir(), "troupe-peer-"))
  const program = join(folder, "dies.mjs")
  writeFileSync(program, "throw new TypeError(process.argv.slice(2).join(' '))")
  const result = await measurePeer(peerNactQuery1, {
    program,
    peers: { install: async () => ({ kind: "installed", folder: "/there" }) },
    signal: new AbortController().signal,
    progress: () => {},
  })
  expect(result).toEqual({
    row: peerNactQuery1,
    problem: "does not run (exit code 1): TypeError: --row peer-nact-query-1 --peers-in /there",
  })
  rmSync(folder, { recursive: true })
})

it("finds the error in what a process printed", () => {
  expect(
    complaintIn("file:///a.js:1\n  x\n  ^\n\nTypeError: x is not a function\n  at a\n\nNode.js v20\n"),
  ).toBe("TypeError: x is not a function")
  expect(complaintIn("it went\n\nwrong\n")).toBe("wrong")
  expect(complaintIn("")).toBe("it is silent")
})
