/** The array form of the models: their arguments as columns, one row after the other. */

/** An argument of a model, in which any number may be a column of them. */
type Columns<T> = T extends number
  ? T | Float64Array
  : T extends readonly unknown[] | ((...args: never[]) => unknown)
    ? T
    : T extends object
      ? { [field in keyof T]: Columns<T[field]> }
      : T

/** What a model returns, with a column in place of each number. */
type Filled<R> = [R] extends [number | null] ? Float64Array : { [field in keyof R]: Float64Array }

/** A column of the arguments, and where its number of the current row goes. */
interface Source {
  target: Record<string, unknown>
  field: string
  values: Float64Array
}

/**
 * Any model of this package over many rows: `args` are the arguments of the model, in which each
 * number may be a `Float64Array` instead, one element a row; what is not a column stays the same.
 * What comes back is what the model returns with a column in place of each number, null as NaN.
 *
 *     series(hayDavies, [surface, { zenith_deg, azimuth_deg }, { ...sky, albedo_ratio: 0.2 }])
 *
 * Fits models that return a number, null or a record of numbers; for others, and for several
 * models in one pass, give a function that does. Units, ranges and errors are those of the model.
 * `out` is filled from its start and given back; without it a new one is. Throws a RangeError for
 * columns of different lengths, for none, and where `out` is too short. For no rows at all the
 * model is asked once, with zeros, what it returns.
 */
export function series<
  A extends readonly unknown[],
  R extends number | null | { [field in keyof R]: number },
>(
  model: (...args: A) => R,
  args: { [position in keyof A]: Columns<A[position]> },
  out?: Filled<R>,
): Filled<R> {
  const row: unknown[] = []
  const sources: Source[] = []
  place(args, row as unknown as Record<string, unknown>, sources)
  const count = rowCount(sources)
  const ask = () => model(...(row as unknown as A)) as number | null | Record<string, number>
  let filled = out as Float64Array | Record<string, Float64Array> | undefined
  if (filled !== undefined) requireRoom(filled instanceof Float64Array ? { filled } : filled, count)
  else if (count === 0) filled = roomLike(ask(), count)
  for (let i = 0; i < count; i++) {
    for (const { target, field, values } of sources) target[field] = values[i]
    const result = ask()
    filled ??= roomLike(result, count)
    if (filled instanceof Float64Array) filled[i] = (result as number | null) ?? Number.NaN
    else for (const name in filled) filled[name]![i] = (result as Record<string, number>)[name]!
  }
  return filled as Filled<R>
}

/** Copies arguments into a row, and notes what of them is a column. */
function place(given: object, target: Record<string, unknown>, sources: Source[]): void {
  for (const [field, value] of Object.entries(given)) {
    target[field] = value
    if (value instanceof Float64Array) {
      sources.push({ target, field, values: value })
      target[field] = 0
    } else if (value !== null && Object.getPrototypeOf(value) === Object.prototype) {
      const inner: Record<string, unknown> = {}
      target[field] = inner
      place(value, inner, sources)
    }
  }
}

function rowCount(sources: readonly Source[]): number {
  const count = sources[0]?.values.length
  if (count === undefined) throw new RangeError('args: no Float64Array among them')
  for (const { field, values } of sources) {
    if (values.length !== count) {
      throw new RangeError(`${field} has ${values.length} elements, not ${count}`)
    }
  }
  return count
}

function roomLike(result: number | null | Record<string, number>, count: number) {
  return result === null || typeof result === 'number'
    ? new Float64Array(count)
    : roomFor(Object.keys(result), count)
}

/** A record of columns, all zero. */
export function roomFor<K extends string>(names: readonly K[], count: number) {
  return Object.fromEntries(names.map((name) => [name, new Float64Array(count)])) as Record<
    K,
    Float64Array
  >
}

/** Throws a RangeError where a column is shorter than `count`. */
export function requireRoom<T extends { [field in keyof T]: Float64Array }>(
  out: T,
  count: number,
): void {
  for (const { length } of Object.values<Float64Array>(out)) {
    if (length < count) throw new RangeError(`out holds ${length} of ${count}`)
  }
}
