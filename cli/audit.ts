import { type AuditedWrite, listWrites } from '@heliograph/server/admin/audit'
import type { Command } from 'commander'
import { type Cli, command, type JsonOption, utcInstant, wholeNumber } from './command.ts'
import { print, table } from './terminal.ts'

const listed_max = 1000
const body_characters_max = 80

interface AuditOptions extends JsonOption {
  site?: string
  from?: Date
  to?: Date
  key?: string
  limit: number
}

export function addAuditCommand(program: Command, { terminal, withAdmin }: Cli): void {
  command(
    program,
    'audit',
    'List who asked for which write, when, and what the answer was, refused ones included.',
    'audit --site sunny-fields-1 --from 2027-01-31T00:00:00Z --key dashboard',
  )
    .option('--site <site_id>', 'only writes to this site')
    .option('--from <time>', 'in UTC (else 30 days before the end)', utcInstant)
    .option('--to <time>', 'in UTC, exclusive (else now)', utcInstant)
    .option('--key <key>', 'only those of this key: its 12 hex digits or its name')
    .option('--limit <n>', 'the newest so many', wholeNumber, listed_max)
    .action(async ({ site, from, to, key, limit, json }: AuditOptions) => {
      const asked = { site_id: site, from, to, key, limit }
      const found = await withAdmin((admin) => listWrites(admin, asked))
      const text = found.writes.length > 0 ? auditTable(found.writes) : 'There are no writes.'
      print(terminal, { json: found, text }, !!json)
      const left = found.count - found.writes.length
      if (left > 0) terminal.notes.write(`heliograph: ${left} older ones are left out (--limit)\n`)
    })
}

function auditTable(writes: readonly AuditedWrite[]): string {
  return table(
    ['AT', 'SITE', 'KEY', 'NAME', 'WRITE', 'STATUS', 'OUTCOME', 'REQUEST', 'BODY'],
    writes.map((write) => [
      `${write.at.toISOString().slice(0, 19).replace('T', ' ')}Z`,
      ...[write.site_id, write.key_id, write.key_name],
      shown(`${write.method} ${write.path}`),
      write.status === null ? '-' : String(write.status),
      outcomeOf(write),
      write.request_id,
      shown(write.body ?? '-'),
    ]),
  )
}

/** The code of a refusal, or how far a limit has come on how many plants. */
function outcomeOf({ status, answer, curtailment }: AuditedWrite): string {
  if (status !== null && status >= 400) return /"code":"(\w+)"/.exec(answer ?? '')?.[1] ?? '-'
  if (curtailment === null) return '-'
  const { plants } = curtailment
  const steps = ['acknowledged', 'applied', 'verified', 'released', 'restored'] as const
  const reached = steps.flatMap((step) => {
    const count = plants.filter((plant) => plant[`${step}_at`] !== null).length
    return count === 0 ? [] : [`${count} ${step}`]
  })
  return [`${plants.length} ${plants.length === 1 ? 'plant' : 'plants'}`, ...reached].join(', ')
}

/** On one line, whatever a client sent. */
function shown(text: string): string {
  const cut = [...text]
  const short =
    cut.length > body_characters_max ? `${cut.slice(0, body_characters_max).join('')}…` : text
  return short.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
  })
}
