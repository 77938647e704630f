import { openStore, report } from "./store-of-program.js"

const store = await openStore()
const { epoch } = await store.get("any")
report({ identity: store.identity, epoch })
await store.close()
process.disconnect()
