import type { AmbientWorld } from "./ambient-world.js"

export function uuidOfTheWorld(world: AmbientWorld): string {
  return uuid(world.randomBytes(16), 4)
}

/** Begins with the wall clock, so that later UUIDs sort later. */
export function uuidV7OfTheWorld(world: AmbientWorld): string {
  const bytes = Buffer.from(world.randomBytes(16))
  bytes.writeUIntBE(Math.floor(world.wallMs()), 0, 6)
  return uuid(bytes, 7)
}

function uuid(random: Uint8Array, version: number): string {
  const bytes = Buffer.from(random)
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | (version << 4), 6)
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8)
  return bytes.toString("hex").replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-")
}
