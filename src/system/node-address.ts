import { Address } from "../address/address.js"
import type { NodeId } from "../address/node-id.js"

/** The address of another node's paths, given that of this system. */
export function addressOf({ scheme, system }: Address, { host, port }: NodeId): Address {
  const address = Address.of({ scheme, system, host, port })
  if (address instanceof Error) throw address
  return address
}
