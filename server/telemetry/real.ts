/** Numbers as PostgreSQL writes a `real`. Pure. */

const float = new Float32Array(1)
const bits = new Uint32Array(float.buffer)

/**
 * The shortest number that rounds to the same 4-byte float, of several the nearest, of two as near
 * the even one. A number half-way to the next float does not count. Numbers of up to six digits
 * have floats of their own.
 *
 * @param value within the range of normal floats, or 0
 */
export function asReal(value: number): number {
  const thousandths = Math.round(value * 1000)
  if (thousandths / 1000 === value && Math.abs(thousandths) < 1e6) return thousandths / 1000
  const size = Math.abs(Math.fround(value))
  const { low, high } = halfWays(size)
  const isInside = (number: number) => number > low && number < high
  for (let digits = 6; digits < 9; digits += 1) {
    const nearest = Number(size.toPrecision(digits))
    if (isInside(nearest)) {
      const other = isOddTie(size, digits) ? withDigits(size, digits, -1) : nearest
      return Math.sign(value) * (isInside(other) ? other : nearest)
    }
    // Above a power of two, floats are twice as far from each other as below.
    if (high - size === size - low) continue
    const above = withDigits(size, digits, 1)
    if (isInside(above)) return Math.sign(value) * above
  }
  return Math.sign(value) * Number(size.toPrecision(9))
}

/** The numbers half-way to the floats beside a positive one. */
function halfWays(size: number) {
  float[0] = size
  bits[0]! += 1
  const high = (size + float[0]!) / 2
  bits[0]! -= 2
  return { low: (size + float[0]!) / 2, high }
}

/** The number of so many digits that is nearest to a float and some steps of its last digit. */
function withDigits(size: number, digits: number, steps: number): number {
  const [mantissa, exponent] = size.toExponential(digits - 1).split('e')
  const whole = Number(mantissa!.replace('.', '')) + steps
  return Number(`${whole}e${Number(exponent) - digits + 1}`)
}

/** Whether a float is half-way between two numbers of so many digits, the upper one odd. */
function isOddTie(size: number, digits: number): boolean {
  const more = size.toExponential(digits)
  return /[02468]\.?5e/.test(more) && Number(more) === size
}
