import { readFileSync } from "node:fs"
import { join } from "node:path"
import { projectFolder } from "./cache-folder.js"

const certificates = join(projectFolder, "test", "certificates")

/** The files of the certificate that servers use: that of `node` in `test/certificates`, for 127.0.0.1 too. */
export const tlsFiles = {
  ca: join(certificates, "ca-cert.pem"),
  cert: join(certificates, "node-cert.pem"),
  key: join(certificates, "node-key.pem"),
}

/** Their contents. */
export const serverTls = {
  ca: readFileSync(tlsFiles.ca, "utf8"),
  cert: readFileSync(tlsFiles.cert, "utf8"),
  key: readFileSync(tlsFiles.key, "utf8"),
}
