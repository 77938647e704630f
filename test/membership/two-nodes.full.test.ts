import { it, onTestFinished } from "vitest"
import { describeWith } from "../../tools/engines/engine-tests.js"
import { PostgresServer } from "../../tools/engines/postgres-server.js"
import { eitherOneServesAlone } from "./serves-alone.js"

await describeWith("postgres-18", "of two nodes with PostgreSQL", () => {
  it("either one is killed, and the other serves", async () => {
    const server = await PostgresServer.start()
    onTestFinished(() => server.remove())
    await eitherOneServesAlone({ kind: "postgres", url: server.url, ca: undefined })
  })
})
