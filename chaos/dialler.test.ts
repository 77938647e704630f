import { describe, expect, it } from "vitest"
import { diallerOf } from "./dialler.js"

/** HELLO with one key, as it stands in `src/remote/frames.golden.txt`. */
const HELLO = Buffer.from(
  `740000006b200271c31e96b270000000
   0154525045029c612e746573743a3235
   35312330303030303030303030303030
   3061318b622e746573743a3235353201
   01010101010101010101010101010101
   01010101010101010101010101010101
   726a52a8452334074fa49198779f66c4
   535429f5a1a3a54beeb2525d7618f506`.replace(/\s/g, ""),
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
