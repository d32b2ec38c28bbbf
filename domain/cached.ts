/** A function whose results are kept by argument, or by the key that `keyOf` makes of it. */
export function cached<Of, Value>(
  make: (of: Of) => Value,
  keyOf: (of: Of) => unknown = (of) => of,
): (of: Of) => Value {
  const known = new Map<unknown, Value>()
  return (of) => {
    const key = keyOf(of)
    if (!known.has(key)) known.set(key, make(of))
    return known.get(key)!
  }
}
