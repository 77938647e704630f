// The complementary error function, the tail of the normal distribution, to a relative error below 1e-12.
//
// An absolute error is not enough: a node is suspected when its silence has a probability of 1e-8, and phi is
// the logarithm of that. So `1 - erf(x)`, whose error is that of 1, is used only where it is not small.

/** Returns the complementary error function for x >= 0. It becomes 0 from about x = 27 on. */
export function erfc(x: number): number {
  return x < FEW_TERMS_FROM ? 1 - erf(x) : Math.exp(-x * x) / (Math.sqrt(Math.PI) * fraction(x))
}

/** Returns the natural logarithm of the complementary error function for x >= 0, which is always finite. */
export function logErfc(x: number): number {
  return x < FEW_TERMS_FROM ? Math.log1p(-erf(x)) : -x * x - Math.log(Math.sqrt(Math.PI) * fraction(x))
}

/** Below this the series needs few terms, from here on the continued fraction does. */
const FEW_TERMS_FROM = 2

/** Returns 2 / sqrt(pi) · exp(-x²) · (x + 2x³/3 + 4x⁵/15 + ...): no term is negative, so none cancels. */
function erf(x: number): number {
  let term = x
  let sum = x
  for (let n = 1; term > sum * Number.EPSILON; n++) {
    term *= (2 * x * x) / (2 * n + 1)
    sum += term
  }
  return (2 / Math.sqrt(Math.PI)) * Math.exp(-x * x) * sum
}

/** Returns x + (1/2) / (x + (2/2) / (x + (3/2) / (x + ...))), from its last term to its first. */
function fraction(x: number): number {
  let value = x
  for (let n = TERMS; n > 0; n--) value = x + n / 2 / value
  return value
}

/** Enough for x = 2, where the fraction converges most slowly. */
const TERMS = 100
