import fc from "fast-check"
import type { AddressParts } from "../../src/address/address.js"

const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

function textOf(characters: string, constraints: fc.StringConstraints): fc.Arbitrary<string> {
  return fc.string({ ...constraints, unit: fc.constantFrom(...characters) })
}

const identifier = textOf(`${letters}-_.`, { minLength: 1, maxLength: 12 })
const escaped = fc
  .tuple(fc.integer({ min: 0x20, max: 0x7e }), fc.boolean())
  .filter(([code]) => code !== 0x2f)
  .map(([code, upper]) => `%${upper ? code.toString(16).toUpperCase() : code.toString(16)}`)
const bare = fc.constantFrom(...`${letters}-_.*$+:@&=,!~';`)

/** A segment as people write it: bare characters and escapes, also of what could stand bare. */
export const writtenSegment = fc
  .array(fc.oneof({ arbitrary: bare, weight: 4 }, escaped), { minLength: 1, maxLength: 12 })
  .map((pieces) => pieces.join(""))
  .filter((text) => !/^(\$|%24)/.test(text) && !/^(\.|%2e){1,2}$/i.test(text))

/** A name with wildcards, as people write it. Only in its middle: what is around it keeps it from being `.` or `$`. */
export const writtenPattern = fc
  .tuple(
    fc.constantFrom("*", "?", "a", "%41", "%2a", "%3F"),
    fc.array(fc.oneof({ arbitrary: fc.constantFrom("*", "?"), weight: 4 }, bare, escaped), { maxLength: 6 }),
    fc.constantFrom("*", "?"),
  )
  .map(([first, middle, last]) => first + middle.join("") + last)

const label = textOf(`${letters}-`, { minLength: 1, maxLength: 8 }).filter((text) => !/^-|-$/.test(text))
const hostName = fc.array(label, { minLength: 1, maxLength: 4 }).map((labels) => labels.join("."))
const host = fc.oneof(
  hostName,
  fc.ipV4(),
  fc.ipV6().map((address) => `[${address}]`),
)
const port = fc.integer({ min: 1, max: 65_535 })
const scheme = fc.constantFrom("troupe", "troupe.tcp", "pekko", "pekko.tcp", "TROUPE", "Troupe.Tcp")

export const anyAddress: fc.Arbitrary<AddressParts> = fc.oneof(
  fc.record({ scheme, system: identifier }),
  fc.record({ scheme, system: identifier, host }),
  fc.record({ scheme, system: identifier, host, port }),
)

/** A whole path, well-formed, and hardly ever canonical. */
export const writtenPath = fc
  .record({
    address: anyAddress,
    guardian: fc.constantFrom("/user", "/system", ""),
    segments: fc.array(writtenSegment, { maxLength: 6 }),
    uid: fc.option(fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER })),
  })
  .map(({ address, guardian, segments, uid }) => {
    const at = address.host === undefined ? "" : `@${address.host}`
    const port = address.port === undefined ? "" : `:${address.port}`
    const names = segments.map((segment) => `/${segment}`).join("")
    return `${address.scheme}://${address.system}${at}${port}${guardian}${names}${uid === null ? "" : `#${uid}`}`
  })

const fragment = fc.constantFrom(
  ..."/:@[]%#?$.*&=; \u0000\n\u00e9\ud800\udfff",
  "troupe",
  "troupe://",
  "sys@",
  "host:1",
  "[::1]",
  "/user",
  "/system",
  "..",
  "%2F",
  "%00",
  "%24",
  "%",
  "#1",
  "__proto__",
  "::",
)

/** Texts made to hurt: pieces of real paths in any order, and anything at all. */
export const hostileText = fc.oneof(
  fc.array(fragment, { maxLength: 20 }).map((pieces) => pieces.join("")),
  fc.string({ unit: "binary", maxLength: 60 }),
  fc.tuple(writtenPath, fc.nat(), fragment).map(([path, at, piece]) => {
    const cut = at % (path.length + 1)
    return path.slice(0, cut) + piece + path.slice(cut)
  }),
)

export const actorIdParts = fc
  .record({
    namespace: identifier,
    type: identifier,
    key: fc.oneof(
      fc.string({ unit: "grapheme", minLength: 1, maxLength: 40 }),
      fc.emailAddress(),
      fc.uuid(),
      fc.constantFrom("room/42", "..", "%", "a%20b", "::", "日本", "\u{1f600}", "a b", "'(*)'!"),
    ),
  })
  .filter(({ key }) => [...key].every((character) => !/\p{Cc}/u.test(character)))
