/** Fields of `after` whose value differs from `before`. */
export function changedFields<Fields extends object>(before: Fields, after: Fields) {
  const old = before as Record<string, unknown>
  const changed = Object.entries(after).filter(
    ([name, value]) => JSON.stringify(old[name]) !== JSON.stringify(value),
  )
  return Object.fromEntries(changed) as Partial<Fields>
}
