import { expect, test } from "vitest"
import type { Thread } from "../ports/threads.js"
import { nodeThreads } from "./node-threads.js"

test("a thread whose program is missing, as it is beside the sources, ends with advice, and ends again", async () => {
  let thread: Thread | undefined
  const error = await new Promise<Error | undefined>((resolve) => {
    thread = nodeThreads.startRenewal(
      { module: "file:///nowhere/store.js", options: {}, namespace: "test" },
      { received: () => {}, ended: resolve },
    )
    thread.post({ kind: "begin" })
  })
  expect(error?.message).toMatch(
    /program of the renewal thread is not at .*\/renewal-worker\.js; keep troupe external .*troupe\/renewal\/worker to that path$/,
  )
  await thread?.end()
})
