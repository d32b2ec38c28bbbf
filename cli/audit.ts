import { type AuditedWrite, listWrites } from '@heliograph/server/access/audit'
import { type Cli, command, type Reporting, utcInstant, wholeNumber } from './command.ts'
import { listOf } from './terminal.ts'

const listed_max = 1000
const body_characters_max = 80

interface AuditOptions {
  site?: string
  from?: Date
  to?: Date
  key?: string
  limit: number
}

export function addAuditCommand(program: Reporting, { withAdmin }: Cli): void {
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
    .result(async ({ site, from, to, key, limit }: AuditOptions) => {
      const asked = { site_id: site, from, to, key, limit }
      const found = await withAdmin((admin) => listWrites(admin, asked))
      const left = found.count - found.writes.length
      return {
        json: found,
        text: auditTable(found.writes),
        ...(left > 0 && { note: `${left} older entries are omitted (--limit)` }),
      }
    })
}

const auditTable = (writes: readonly AuditedWrite[]) =>
  listOf('No entries.', writes, {
    AT: ({ at }) => `${at.toISOString().slice(0, 19).replace('T', ' ')}Z`,
    CLIENT: 'client',
    SITE: 'site_id',
    KEY: 'key_id',
    NAME: 'key_name',
    ADDRESS: 'address',
    WRITE: ({ method, path }) => shortened(`${method} ${path}`),
    STATUS: 'status',
    OUTCOME: outcomeOf,
    REQUEST: 'request_id',
    BODY: ({ body }) => shortened(body ?? '-'),
  })

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
