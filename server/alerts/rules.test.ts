/** The rules as people read them, and as sources find them. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import test from 'node:test'
import { alertSources } from './alert-sources.ts'
import { alertCodes, ruleOf } from './rules.ts'

const document = readFileSync(new URL('../../docs/alerts.md', import.meta.url), 'utf8')

const delay = (seconds: number) =>
  seconds === 0 ? 'at once' : seconds % 60 === 0 ? `${seconds / 60} min` : `${seconds} s`

/** The line of a rule in docs/alerts.md, up to the condition. */
function lineOf(code: (typeof alertCodes)[number]): string {
  const { severity, raise_delay_s, clear_delay_s, thresholds, suppressed_by } = ruleOf(code)
  const limits = Object.entries(thresholds).map(
    ([name, { value, unit }]) => `\`${name}\` ${value} ${unit}`,
  )
  const explained = suppressed_by.length > 0 ? suppressed_by.join(', ') : '-'
  const cells = [`\`${code}\``, severity, `${delay(raise_delay_s)}, ${delay(clear_delay_s)}`]
  return `| ${[...cells, limits.join('; ') || '-', explained].join(' | ')} | `
}

test('docs/alerts.md has every rule as it is, and no other', () => {
  const [, chapter = ''] = document
    .split(/^## /m)
    .filter((part) => part.startsWith('Rules'))
    .join()
    .split('|---|\n')
  const lines = chapter.trim().split('\n')
  const beginnings = lines.map((line) => /^(.* \| )[A-Z][^|]*\. \|$/.exec(line)?.[1])
  assert.deepEqual(beginnings, alertCodes.map(lineOf))
})

test('every rule has one source that finds it', () => {
  const codes = alertSources.flatMap((source) => source.codes)
  assert.deepEqual(codes.toSorted(), [...alertCodes].sort())
})
