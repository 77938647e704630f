import { existsSync } from "node:fs"
import { resolve } from "node:path"
import { nodePorts } from "../../runtime/node-ports.js"
import { refusal } from "./problem.js"
import { linkOptions } from "./sqlite-store.js"
import { unexpected, WorkerLink } from "./worker-link.js"

export interface RenewEpochOptions {
  readonly file: string
}

/**
 * Says that the history of a store may have been cut: for after a backup was restored by writing into the
 * file that was there, or a snapshot of its volume was rolled back, which leaves no trace that the store
 * could see by itself. Nodes that know the store from before then have to join anew, and revisions go on
 * above all that were given out. Gives the new epoch.
 */
export async function renewEpoch({ file }: RenewEpochOptions): Promise<string> {
  if (!existsSync(file)) {
    throw refusal("unsuitable", `there is no store ${resolve(file)}; check the name`)
  }
  const link = new WorkerLink({ ...linkOptions({ file }), mustExist: true }, nodePorts())
  try {
    const { report } = await link.ask({ pack: (id) => ({ kind: "renew-epoch", id }) })
    if (report.kind !== "renewed") throw unexpected(report)
    return report.epoch
  } finally {
    await link.close()
  }
}
