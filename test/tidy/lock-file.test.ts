import { readFileSync } from "node:fs"
import { expect, test } from "vitest"

interface LockEntry {
  readonly integrity?: string
  readonly dev?: boolean
  readonly optional?: boolean
}

const lock = JSON.parse(readFileSync(new URL("../../package-lock.json", import.meta.url), "utf8")) as {
  readonly packages: Readonly<Record<string, LockEntry>>
}
const entries = Object.entries(lock.packages).filter(([path]) => path !== "")

/**
 * Binaries for platforms other than Linux on x64 with glibc, of tools that are used in development only (formatter, parser, test
 * runner). The registry that the lock file was made with does not have them, so nobody could say what their bytes are; on those
 * platforms nothing but the connection to the registry vouches for them. Where a full registry is at hand, delete their entries
 * from the lock file, run `npm install --package-lock-only`, and shorten this list.
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

test("only platform binaries of development tools have no integrity in the lock file, and exactly these", () => {
  const expected = Object.entries(WITHOUT_INTEGRITY).flatMap(([prefix, platforms]) =>
    platforms.flatMap((line) => line.split(" ").map((platform) => `node_modules/${prefix}${platform}`)),
  )
  const found = entries.filter(([, { integrity }]) => integrity === undefined)
  expect(found.map(([path]) => path).toSorted()).toEqual(expected.toSorted())
  for (const [path, entry] of found) expect(entry, path).toMatchObject({ dev: true, optional: true })
})

/** What npm writes ahead of the other keys of an entry. Those are in the order of the alphabet, with objects at the end and, of those, dependencies first. */
const FIRST = ["name", "version", "resolved", "integrity"]

test("npm 10 and npm 11 leave the lock file as it is", () => {
  for (const [path, entry] of entries) {
    const keys = Object.keys(entry)
    const rank = (key: string) => {
      const value: unknown = Reflect.get(entry, key)
      if (FIRST.includes(key)) return `0 ${FIRST.indexOf(key)}`
      if (key === "dependencies") return "2"
      return typeof value === "object" && !Array.isArray(value) ? `3 ${key}` : `1 ${key}`
    }
    expect(keys, path).toEqual(keys.toSorted((one, other) => (rank(one) < rank(other) ? -1 : 1)))
    // npm 11 adds none where there is none, and npm 10 takes them out.
    expect(keys, path).not.toContain("libc")
  }
})
