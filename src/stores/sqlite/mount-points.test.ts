import { expect, it } from "vitest"
import { isMountPoint, mountPointsIn } from "./mount-points.js"

const MOUNTS = String.raw`22 27 0:21 / /proc rw,relatime - proc proc rw
27 1 254:0 / / rw,relatime shared:1 - ext4 /dev/root rw
812 790 8:1 /srv/app/prod.db /data/prod.db rw,relatime master:1 - ext4 /dev/sda1 rw
813 790 8:1 /srv/with\040space /data/with\040space\011and\134more\012 rw - ext4 /dev/sda1 rw
814 790 8:1 /x /data/gone.db//deleted rw - ext4 /dev/sda1 rw
a line that is none
`

it("finds mount points of file systems and files, whatever their names", () => {
  expect([...mountPointsIn(MOUNTS)]).toEqual([
    "/proc",
    "/",
    "/data/prod.db",
    "/data/with space\tand\\more\n",
    "/data/gone.db//deleted",
  ])
  expect(mountPointsIn("").size).toBe(0)
})

it("distinguishes mount points from paths on a mounted file system", () => {
  if (process.platform === "linux") expect(isMountPoint("/proc")).toBe(true)
  expect(isMountPoint(import.meta.filename)).toBe(false)
})
