import { readFileSync } from "node:fs"
import { expect, test } from "vitest"

interface LockEntry {
  readonly integrity?: string
  readonly dev?: boolean
  readonly optional?: boolean
}

const entries = entriesOf("../../package-lock.json")
const engines = [
  ...entriesOf("../../tools/engines/packages/package-lock.json"),
  ...entriesOf("../../tools/engines/browser/package-lock.json"),
]

function entriesOf(file: string): readonly [string, LockEntry][] {
  const lock = JSON.parse(readFileSync(new URL(file, import.meta.url), "utf8")) as {
    readonly packages: Readonly<Record<string, LockEntry>>
  }
  return Object.entries(lock.packages).filter(([path]) => path !== "")
}

/**
 * Binaries of development tools (formatter, parser, test runner) for platforms other than Linux on x64 with glibc. The
 * registry that the lock file was made with does not have them, so their hashes are not known; on those platforms only
 * the connection to the registry authenticates them. With access to a full registry, delete their entries from the lock
 * file, run `npm install --package-lock-only`, and shorten this list.
 */
const WITHOUT_INTEGRITY: Readonly<Record<string, readonly string[]>> = {
  "@biomejs/cli-": [
    "android-arm64 android-x64 darwin-arm64 darwin-x64 linux-arm64-musl linux-x64-musl",
    "win32-arm64 win32-x64",
  ],
  "@oxc-parser/binding-": [
    "android-arm-eabi android-arm64 darwin-arm64 darwin-x64 freebsd-x64 linux-arm-gnueabihf",
    "linux-arm-musleabihf linux-arm64-musl linux-ppc64-gnu linux-riscv64-gnu linux-riscv64-musl",
    "linux-s390x-gnu linux-x64-musl openharmony-arm64 win32-arm64-msvc win32-ia32-msvc win32-x64-msvc",
  ],
  "@rolldown/binding-": [
    "android-arm-eabi android-arm64 darwin-arm64 darwin-x64 freebsd-x64 linux-arm-gnueabihf",
    "linux-arm64-gnu linux-arm64-musl linux-ppc64-gnu linux-s390x-gnu linux-x64-musl openharmony-arm64",
    "wasm32-wasi win32-arm64-msvc win32-x64-msvc",
  ],
}

test("only the listed platform binaries of development tools have no integrity in the lock file", () => {
  const expected = Object.entries(WITHOUT_INTEGRITY).flatMap(([prefix, platforms]) =>
    platforms.flatMap((line) => line.split(" ").map((platform) => `node_modules/${prefix}${platform}`)),
  )
  const found = entries.filter(([, { integrity }]) => integrity === undefined)
  expect(found.map(([path]) => path).toSorted()).toEqual(expected.toSorted())
  for (const [path, entry] of found) expect(entry, path).toMatchObject({ dev: true, optional: true })
})

test("every package of the engines has an integrity in their lock file", () => {
  expect(engines.length).toBeGreaterThan(0)
  for (const [path, { integrity }] of engines) expect(integrity, path).toMatch(/^sha512-/)
})

/**
 * The keys that npm writes first in an entry. The others follow in alphabetical order, with objects at the end and
 * `dependencies` as the first of these.
 */
const FIRST = ["name", "version", "resolved", "integrity"]

test("npm 10 and npm 11 do not change the lock file", () => {
  for (const [path, entry] of [...entries, ...engines]) {
    const keys = Object.keys(entry)
    const rank = (key: string) => {
      const value: unknown = Reflect.get(entry, key)
      if (FIRST.includes(key)) return `0 ${FIRST.indexOf(key)}`
      if (key === "dependencies") return "2"
      return typeof value === "object" && !Array.isArray(value) ? `3 ${key}` : `1 ${key}`
    }
    expect(keys, path).toEqual(keys.toSorted((one, other) => (rank(one) < rank(other) ? -1 : 1)))
    // npm 11 does not add this key where it is missing, and npm 10 removes it.
    expect(keys, path).not.toContain("libc")
  }
})
