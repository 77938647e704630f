import { GrpcConnection } from "../../src/stores/etcd/grpc-connection.js"
import { METHODS, readTxn, TXN, writeIsAt, writePut, writeRange } from "../../src/stores/etcd/messages.js"
import { ProtobufReader, ProtobufWriter } from "../../src/stores/etcd/protobuf.js"
import { EtcdServer } from "../../tools/engines/etcd-server.js"
import { latencyOf } from "../quantile.js"
import type { Contender, Workload } from "../row.js"
import { times } from "../sqlite/commit-lanes.js"
import { inLanes } from "../sqlite/scratch-registry.js"
import { keyOf } from "./scratch-etcd.js"

/**
 * What etcd offers for a conditional write, by the same driver: one transaction that compares a key's revision
 * and puts the key, and reads it otherwise. So many are in flight, each with a key of its own.
 */
export const barePuts = (inFlight: number, valueBytes: number): Contender => ({
  async setup(): Promise<Workload> {
    const server = await EtcdServer.start()
    const connection = await GrpcConnection.connect(server.url, { tls: undefined, timeoutMs: 5_000 })
    const value = new Uint8Array(valueBytes).fill(7)
    const revisions = Array.from({ length: inFlight }, () => 0)
    return {
      fewestOperations: 4 * inFlight,
      run: async (operations) => {
        const tookMs = await inLanes(inFlight, times(operations), async (lane) => {
          revisions[lane] = await put(connection, `bench/${keyOf(lane)}`, revisions[lane] ?? 0, value)
        })
        return latencyOf(tookMs.map((ms) => ms * 1_000))
      },
      teardown: async () => {
        connection.destroy()
        await server.remove()
      },
    }
  },
})

async function put(
  connection: GrpcConnection,
  key: string,
  revision: number,
  value: Uint8Array,
): Promise<number> {
  const writer = new ProtobufWriter()
  writeIsAt(writer, key, revision)
  writePut(writer, key, value)
  writeRange(writer, TXN.failure, key)
  const call = connection.call(METHODS.txn, writer.finish(), { isRead: false })
  const answer = readTxn(new ProtobufReader(await call.answer))
  if (!answer.succeeded) throw new Error("a put was refused")
  return answer.revision
}
