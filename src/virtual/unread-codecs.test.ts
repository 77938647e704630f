import { expect, test } from "vitest"
import { PLAIN } from "../../test/registry/plain-codec.js"
import type { LogFields } from "../ports/logger.js"
import type { NodeRecord } from "../registry/node-record.js"
import { publishedBy } from "../registry/published.js"
import { StateCodecs } from "../registry/state-codecs.js"
import { binaryCodec } from "../serialization/binary-codec.js"
import { jsonCodec } from "../serialization/json-codec.js"
import { UnreadCodecs } from "./unread-codecs.js"

const [binary, json] = [binaryCodec()(PLAIN), jsonCodec()(PLAIN)]

function recordOf(types: readonly string[], codecs?: readonly string[]): { readonly record: NodeRecord } {
  return { record: { status: "active", roles: [], types, lifeline: undefined, codecs } }
}

/** The nodes that are warned of when each of these is looked at in turn. */
function warned(codecs: StateCodecs, ...looks: readonly [string, { readonly record: NodeRecord }][][]) {
  const nodes: unknown[] = []
  const log = (_level: string, _message: string, fields: unknown) => {
    nodes.push((fields as LogFields)["node"])
  }
  const unread = new UnreadCodecs(codecs, { log })
  for (const records of looks) unread.look(publishedBy(records), ["Account", "Cart"])
  return nodes
}

const old = recordOf(["Account", "Cart"], ["troupe-binary-1"])
const able = recordOf(["Account"], ["troupe-binary-1", "troupe-json-1"])

test("warns once of each host that cannot read what is written", () => {
  const codecs = new StateCodecs(binary, json)
  expect(
    warned(
      codecs,
      [["a", old]],
      [
        ["a", old],
        ["b", old],
        ["c", able],
      ],
    ),
  ).toEqual(["a", "b"])
})

test("does not warn of hosts of other types, of those that do not say, or of the codec of messages", () => {
  const codecs = new StateCodecs(binary, json)
  expect(
    warned(codecs, [
      ["a", recordOf(["Till"], ["troupe-binary-1"])],
      ["b", recordOf(["Account"])],
    ]),
  ).toEqual([])
  expect(warned(new StateCodecs(binary, binary, [json]), [["a", old]])).toEqual([])
})
