/** Log lines of bounded length that are safe to print to a terminal. */

/** Characters that control a terminal: control and format characters, line separators. */
export const unprintable = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu

/** Longer lines are cut, field by field. */
const line_characters_max = 4096
const field_characters_max = 500
/** Stack traces come from our own code and are not cut. */
const stack_characters_max = 3000
const entries_max = 20
const depth_max = 4
const cut_line_characters_max = 16_384

/**
 * The same line (JSON, with its line break) with every unprintable character escaped. A line over
 * 4096 characters has its texts cut to 500, its lists and objects to 20 entries; one that is still
 * over 16,384 keeps its level, time, name and message alone.
 */
export function boundedLine(line: string): string {
  const bounded = line.length > line_characters_max ? cutLine(line) : line.trimEnd()
  return `${bounded.replace(unprintable, escapedInJson)}\n`
}

const escapedInJson = (character: string) =>
  character
    .split('')
    .map((half) => `\\u${half.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('')

function cutLine(line: string): string {
  const fields: Record<string, unknown> = JSON.parse(line)
  const bounded = JSON.stringify(cut(fields, '', 0))
  if (bounded.length <= cut_line_characters_max) return bounded
  const { level, time, name, msg } = fields
  return JSON.stringify(cut({ level, time, name, msg, cut_characters: line.length }, '', 0))
}

function cut(value: unknown, name: string, depth: number): unknown {
  if (typeof value === 'string') {
    return cutText(value, name === 'stack' ? stack_characters_max : field_characters_max)
  }
  if (typeof value !== 'object' || value === null) return value
  if (depth === depth_max) return '…'
  if (Array.isArray(value)) {
    return value.slice(0, entries_max).map((each) => cut(each, '', depth + 1))
  }
  return Object.fromEntries(
    Object.entries(value)
      .slice(0, entries_max)
      .map(([key, each]) => [cutText(key, field_characters_max), cut(each, key, depth + 1)]),
  )
}

/** The text, or its beginning and `…`. */
export const cutText = (text: string, characters_max: number): string =>
  text.length <= characters_max ? text : `${text.slice(0, characters_max - 1).toWellFormed()}…`
