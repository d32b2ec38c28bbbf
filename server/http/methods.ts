/** Methods by path, for 405 and its `Allow` header. */
interface Route {
  method: string
  /** With parameters as `{name}`. */
  path: string
}

/** The methods of each path. GET implies HEAD. */
export function methodsByPath(routes: readonly Route[]): Map<string, Set<string>> {
  const methods = new Map<string, Set<string>>()
  for (const { method, path } of routes) {
    const known = methods.get(path) ?? new Set()
    for (const each of method === 'GET' ? ['GET', 'HEAD'] : [method]) known.add(each)
    methods.set(path, known)
  }
  return methods
}

export const allowHeader = (methods: ReadonlySet<string>) => [...methods].sort().join(', ')

/** The methods of the path that a URL matches, for methods unknown to the router. */
export function methodsAt(
  methods: ReadonlyMap<string, ReadonlySet<string>>,
  url: string,
): ReadonlySet<string> | null {
  const asked = url.split('?', 1)[0]!.split('/')
  const fitting = [...methods].filter(([path]) => {
    const parts = path.split('/')
    const fits = (part: string, index: number) => part.startsWith('{') || part === asked[index]
    return parts.length === asked.length && parts.every(fits)
  })
  // As in the router, static segments take precedence over parameters.
  const values = ([path]: [string, unknown]) => path.split('{').length
  return fitting.sort((a, b) => values(a) - values(b))[0]?.[1] ?? null
}
