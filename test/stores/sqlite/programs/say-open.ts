/** Opens a store, and prints the outcome. */
import { openStore } from "./store-of-program.js"

try {
  const store = await openStore()
  const { entry } = await store.get("a")
  console.log(`opened, and a is ${entry && Buffer.from(entry.value).toString()}`)
  await store.close()
} catch (error) {
  const { problem, message } = error as { problem?: unknown; message?: unknown }
  console.log(`${problem}: ${message}`)
}
