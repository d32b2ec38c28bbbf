/** Which methods a path has, for 405 and its `Allow`. */
interface Route {
  method: string
  /** With `{name}` where a value stands. */
  path: string
}

/** Of each path its methods; what can be read can be asked for its head. */
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

/** The methods of whatever path the address fits, for methods that no router knows. */
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
  // As the router does: what is spelled out goes before what has an id in it.
  const values = ([path]: [string, unknown]) => path.split('{').length
  return fitting.sort((a, b) => values(a) - values(b))[0]?.[1] ?? null
}
