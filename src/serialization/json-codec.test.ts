import { describe, expect, test } from "vitest"
import { MalformedBytesError } from "../errors/malformed-bytes-error.js"
import type { RefTexts } from "../ports/codec.js"
import { jsonCodec } from "./json-codec.js"
import { OutputBuffer } from "./output-buffer.js"
import { TypeRegistry } from "./type-registry.js"

test.each<[string, unknown]>([
  ['{"a":[1,null,"x"]}', { a: [1, null, "x"] }],
  ['{"$":"undefined"}', undefined],
  ['{"$":"number","v":"-0"}', -0],
  ['{"$":"bigint","v":"-ff"}', -255n],
  ['{"$":"Date","v":0}', new Date(0)],
  ['{"$":"Date","v":null}', new Date(Number.NaN)],
  ['{"$":"Map","v":[["k",1]]}', new Map([["k", 1]])],
  ['{"$":"Set","v":[1]}', new Set([1])],
  ['{"$":"Uint16Array","v":"AQA="}', new Uint16Array([1])],
  ['{"$":"Object","v":{"$":1}}', { $: 1 }],
  ['"\\ud800\u4e2d"', "\ud800\u4e2d"],
])("writes %s", (text, value) => {
  const out = new OutputBuffer(8)
  codec.encode(value, out)
  expect(out.bytes.toString("utf8", 0, out.at)).toBe(text)
  expect(decoded(text)).toStrictEqual(value)
})

describe("refuses", () => {
  test.each([
    ["what is no JSON", "{a:1}"],
    ["bytes that are no UTF-8", Buffer.from([0x22, 0xff, 0x22])],
    ["__proto__ as a key", '{"a":{"__proto__":{"polluted":1}}}'],
    ["__proto__ as an escaped key", '{"\\u005f_proto__":1}'],
    ["__proto__ in a wrapped object", '{"$":"Object","v":{"__proto__":1}}'],
    ["__proto__ in the fields of an error", '{"$":"Error","of":"Error","v":[{},{"__proto__":1}]}'],
    ["a mark that is not known", '{"$":"Function","v":"x"}'],
    ["a mark that is no text", '{"$":1}'],
    ["a mark that objects inherit", '{"$":"constructor"}'],
    ["a number that JSON has itself", '{"$":"number","v":"5"}'],
    ["a bigint with other digits", '{"$":"bigint","v":"xyz"}'],
    ["a bigint without digits", '{"$":"bigint","v":"-"}'],
    ["a date that is a text", '{"$":"Date","v":"2020"}'],
    ["an entry of three", '{"$":"Map","v":[[1,2,3]]}'],
    ["an entry of one", '{"$":"Map","v":[[1]]}'],
    ["bytes that are no base64", '{"$":"Uint8Array","v":"a"}'],
    ["bytes that are base64 of another kind", '{"$":"Uint8Array","v":"_-=="}'],
    ["an odd number of bytes for an Int16Array", '{"$":"Int16Array","v":"AA=="}'],
    ["an error without fields", '{"$":"Error","of":"Error"}'],
    ["an instance without a name", '{"$":"type","v":1}'],
    ["a ref that is no text", '{"$":"ref","v":{}}'],
  ])("%s", (_, text) => {
    expect(() => decoded(text)).toThrow(MalformedBytesError)
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined()
  })

  test.each(["[", '{"a":', '[{"$":"Map","v":[[1,'])("a megabyte of %s before it is parsed", (opening) => {
    expect(() => decoded(opening.repeat(2 ** 20 / opening.length))).toThrow(/nested too deeply/)
  })

  test("more commas than items could have", () => {
    expect(() => decoded(`[${"[],".repeat(3e6)}[]]`)).toThrow(/too many items/)
  })

  test("nothing because of brackets and commas in a text", () => {
    const text = '["[{,\\\\"'.repeat(10_000)
    expect(decoded(JSON.stringify({ text }))).toStrictEqual({ text })
  })
})

const refs: RefTexts = { isRef: () => false, textOf: String, refOf: () => ({}) }

const codec = jsonCodec()({ refs, types: new TypeRegistry([]) })

function decoded(text: string | Buffer): unknown {
  const bytes = Buffer.from(text as string)
  return codec.decode(bytes, 0, bytes.length)
}
