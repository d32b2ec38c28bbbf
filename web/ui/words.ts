/** `in_progress` to `In progress`. */
export function inWords(code: string): string {
  const text = code.replaceAll('_', ' ')
  return text.charAt(0).toUpperCase() + text.slice(1)
}

/** Options of a select field. */
export const choices = (codes: readonly string[]) =>
  codes.map((value) => ({ value, label: inWords(value) }))
