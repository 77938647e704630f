/**
 * Who dials, by the first bytes of a TLS connection: the server name that it asks for. A dialler encrypts all but this;
 * so each node of the rig asks for a name of its own, and their certificate is for all of them. `undefined` while there
 * are too few bytes; `stranger` for what is no TLS, or has no name.
 */
export function diallerOf(bytes: Buffer): string | "stranger" | undefined {
  if (bytes.length > 0 && bytes[0] !== HANDSHAKE) return "stranger"
  if (bytes.length < RECORD_HEADER_BYTES) return undefined
  const end = RECORD_HEADER_BYTES + bytes.readUInt16BE(3)
  if (bytes.length < end) return undefined
  try {
    return serverNameIn(bytes.subarray(RECORD_HEADER_BYTES, end)) ?? "stranger"
  } catch {
    // Its lengths lead beyond its end.
    return "stranger"
  }
}

/** By RFC 8446, section 4.1.2, and RFC 6066, section 3. */
function serverNameIn(hello: Buffer): string | undefined {
  if (hello[0] !== CLIENT_HELLO) return undefined
  // After its length, the version, and the random bytes.
  let at = 4 + 2 + 32
  at += 1 + hello.readUInt8(at)
  at += 2 + hello.readUInt16BE(at)
  at += 1 + hello.readUInt8(at)
  const end = at + 2 + hello.readUInt16BE(at)
  for (at += 2; at < end; at += 4 + hello.readUInt16BE(at + 2)) {
    if (hello.readUInt16BE(at) !== SERVER_NAME) continue
    // After the header of the extension: the length of the list, and the type of its first name.
    const name = at + 4 + 2 + 1
    return hello.toString("latin1", name + 2, name + 2 + hello.readUInt16BE(name))
  }
  return undefined
}

const RECORD_HEADER_BYTES = 5
const HANDSHAKE = 22
const CLIENT_HELLO = 1
const SERVER_NAME = 0
