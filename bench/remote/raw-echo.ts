import { serveRaw } from "./raw-server.js"

serveRaw((_id, body) => body)
