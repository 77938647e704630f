import { existsSync } from "node:fs"
import { resolve } from "node:path"
import { nodePorts } from "../../runtime/node-ports.js"
import { refusal } from "./problem.js"
import { linkOptions } from "./sqlite-store.js"
import { unexpected, WorkerLink } from "./worker-link.js"

/** Options of {@link renewEpoch}. */
export interface RenewEpochOptions {
  /** The path of the store's file. */
  readonly file: string
}

/**
 * Announces that the history of a store may have been truncated: after a backup was restored by writing into
 * the existing file, or a snapshot of its volume was rolled back, which the store cannot detect by itself.
 * Nodes that know the store from before then have to join again, and revisions continue above all that were
 * issued. Returns the new epoch.
 */
export async function renewEpoch({ file }: RenewEpochOptions): Promise<string> {
  if (!existsSync(file)) {
    throw refusal("unsuitable", `the store ${resolve(file)} does not exist; check the path`)
  }
  const link = new WorkerLink({ ...linkOptions({ file }), mustExist: true }, nodePorts())
  try {
    return await link.ask({
      pack: (id, packing) => packing.add({ kind: "renew-epoch", id }),
      unpack: (report) => {
        if (report.kind !== "renewed") throw unexpected(report)
        return report.epoch
      },
    })
  } finally {
    await link.close()
  }
}
