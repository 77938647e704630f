/**
 * The system's monotonic clock, which all processes of a machine read alike. `performance.now` begins anew in
 * each.
 */
export function sharedNowUs(): number {
  return Number(process.hrtime.bigint()) / 1_000
}
