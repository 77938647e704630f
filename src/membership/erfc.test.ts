import { expect, test } from "vitest"
import { erfc, logErfc } from "./erfc.js"

/** x and the logarithm of erfc(x), computed with 50 digits. */
const table: readonly (readonly [number, number])[] = [
  [0, 0],
  [1e-9, -1.1283791677321324e-9],
  [0.1, -0.1193049737373956],
  [0.25, -0.32341480339361944],
  [0.5, -0.7350111298370844],
  [1, -1.8496055099332482],
  [1.5, -3.3844920895515527],
  [1.9, -4.932345862780269],
  [1.999999, -5.3649368464567555],
  [2, -5.364941264616638],
  [2.000001, -5.364945682778368],
  [2.5, -7.806815272727264],
  [3, -10.720363041981113],
  [4, -17.987778312103007],
  [5, -27.200889545537436],
  [6, -38.37756117322339],
  [8, -66.65947197080516],
  [10, -102.87988902484489],
  [15, -228.28262515380638],
  [20, -403.56934333410425],
  [26, -679.8311997631943],
  [27, -732.8688865078974],
  [30, -903.9741171106439],
  [50, -2504.484587848451],
  [100, -10005.177585122665],
  [1000, -1000007.4801207219],
]

test("has a relative error below 1e-12 down to 1e-295", () => {
  for (const [x, log] of table.filter(([, log]) => log > -680)) {
    // A difference of logarithms is the relative error of the values. That of a product of rounded factors is
    // a few units in the last place of the exponent.
    expect(Math.abs(logErfc(x) - log), `log erfc(${x})`).toBeLessThan(1e-12 * Math.max(1, x))
    expect(Math.abs(erfc(x) / Math.exp(log) - 1), `erfc(${x})`).toBeLessThan(1e-12)
  }
})

test("has a logarithm where the value is too small for a number", () => {
  for (const [x, log] of table.filter(([, log]) => log < -680)) {
    expect(Math.abs(logErfc(x) / log - 1), `log erfc(${x})`).toBeLessThan(1e-14)
  }
  expect(erfc(30)).toBe(0)
  expect(logErfc(1e6)).toBeGreaterThan(Number.NEGATIVE_INFINITY)
})

test("never grows, from one step to the next", () => {
  const grows: number[] = []
  for (let x = 0; x < 60; x += 0.001) if (logErfc(x + 0.001) >= logErfc(x)) grows.push(x)
  expect(grows).toEqual([])
})
