import { afterAll, beforeAll, describe, it } from "vitest"
import { describeWith } from "../../tools/engines/engine-tests.js"
import { PostgresServer } from "../../tools/engines/postgres-server.js"
import type { StoreOptions } from "../../tools/store-options.js"
import { scratchFile } from "../registry/scratch-file.js"
import {
  killedBeforeItFires,
  killedWhileItFires,
  type Lives,
  recurringMissed,
  undeliveredMessages,
} from "./an-hour-later.js"

const all = "all nodes are killed, and start an hour later by the wall clock"

await describeWith("faketime", `with SQLite ${all}`, () => {
  declareScenarios(() => ({ kind: "sqlite", file: scratchFile() }))
})

await describeWith(["faketime", "postgres-18"], `with PostgreSQL ${all}`, () => {
  let server: PostgresServer
  beforeAll(async () => {
    server = await PostgresServer.start()
  })
  afterAll(() => server.remove())
  declareScenarios(() => ({ kind: "postgres", url: server.url, ca: undefined }))
})

function declareScenarios(opened: () => StoreOptions): void {
  describe.each(["Clerk", "ShardedClerk"] as const)("of a %s", (type) => {
    let namespaces = 0
    const lives = (): Lives => {
      namespaces += 1
      return { namespace: `${type}-${namespaces}`, store: opened(), nodes: 2, type }
    }

    it("a reminder that was firing fires again, and is applied once", () => killedWhileItFires(lives()))

    it("a reminder that was due and had not fired fires", () => killedBeforeItFires(lives()))

    it("recurring reminders run or count all that was missed", () => recurringMissed(lives()))

    it("messages that were not delivered are delivered once", () => undeliveredMessages(lives()))
  })
}
