/** Filters in the address, so that a filtered list can be shared as a link. */
import { useSearchParams } from 'wouter'

export function useFilters() {
  const [params, setParams] = useSearchParams()
  const set = (changes: Record<string, string | null>) =>
    setParams(
      (before) => {
        const next = new URLSearchParams(before)
        for (const [name, value] of Object.entries(changes)) {
          if (value === null || value === '') next.delete(name)
          else next.set(name, value)
        }
        return next
      },
      { replace: true },
    )
  const get = (name: string) => params.get(name)
  const number = (name: string) => {
    const text = params.get(name)
    return text !== null && /^\d+$/.test(text) ? Number(text) : undefined
  }
  return { get, number, set }
}
