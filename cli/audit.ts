import { type AuditedWrite, listWrites } from '@heliograph/server/access/audit'
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
    'List writes and sign-ins with time and address, including refused ones.',
    'audit --site sunny-fields-1 --from 2027-01-31T00:00:00Z --key dashboard',
  )
    .option('--site <site_id>', 'only writes to this site, without keys and people')
    .option('--from <time>', 'UTC; defaults to 30 days before the end', utcInstant)
    .option('--to <time>', 'UTC, exclusive; defaults to now', utcInstant)
    .option('--key <key>', 'only this key or person, by id or name')
    .option('--limit <n>', 'number of newest entries', wholeNumber, listed_max)
    .action(async ({ site, from, to, key, limit, json }: AuditOptions) => {
      const asked = { site_id: site, from, to, key, limit }
      const found = await withAdmin((admin) => listWrites(admin, asked))
      const text = found.writes.length > 0 ? auditTable(found.writes) : 'No entries.'
      print(terminal, { json: found, text }, !!json)
      const left = found.count - found.writes.length
      if (left > 0)
        terminal.notes.write(`heliograph: ${left} older entries are omitted (--limit)\n`)
    })
}

function auditTable(writes: readonly AuditedWrite[]): string {
  return table(
    [
      'AT',
      'CLIENT',
      'SITE',
      'KEY',
      'NAME',
      'ADDRESS',
      'WRITE',
      'STATUS',
      'OUTCOME',
      'REQUEST',
      'BODY',
    ],
    writes.map((write) => [
      `${write.at.toISOString().slice(0, 19).replace('T', ' ')}Z`,
      write.client,
      write.site_id ?? '-',
      write.key_id,
      write.key_name,
      write.address ?? '-',
      shortened(`${write.method} ${write.path}`),
      write.status === null ? '-' : String(write.status),
      outcomeOf(write),
      write.request_id ?? '-',
      shortened(write.body ?? '-'),
    ]),
  )
}

/** Error code of a refusal, or the progress of a curtailment by number of plants. */
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

function shortened(text: string): string {
  const characters = [...text]
  if (characters.length <= body_characters_max) return text
  return `${characters.slice(0, body_characters_max).join('')}…`
}
