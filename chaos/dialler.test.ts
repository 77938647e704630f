import { describe, expect, it } from "vitest"
import { diallerOf } from "./dialler.js"

/** HELLO without a secret, as it stands in `src/remote/frames.golden.txt`. */
const HELLO = Buffer.from(
  `74000000e9b86626d964a4ec70000000
   0154525045018473686f70866f726465
   72739c612e746573743a323535312330
   303030303030303030303030306131 8b
   622e746573743a323535328f74726f75
   70652d62696e6172792d318080804000`.replace(/\s/g, "") + "01".repeat(32),
  "hex",
)

describe("who dials", () => {
  it("is the address in its HELLO", () => {
    expect(diallerOf(HELLO)).toBe("a.test:2551")
    expect(diallerOf(Buffer.concat([HELLO, Buffer.from("and more")]))).toBe("a.test:2551")
  })

  it("is not known until HELLO is there", () => {
    for (let length = 0; length < HELLO.length; length += 1) {
      expect(diallerOf(HELLO.subarray(0, length))).toBeUndefined()
    }
  })

  it("is a stranger, if it says something else", () => {
    expect(diallerOf(Buffer.from("GET / HTTP/1.1\r\n\r\n"))).toBe("stranger")
    const other = Buffer.from(HELLO)
    other[16] = 0x02
    expect(diallerOf(other)).toBe("stranger")
  })
})
