import {
  type ApiKeyRecord,
  createKey,
  findKey,
  listKeys,
  overlap_s_default,
  revokeKey,
  rotateKey,
  type ShownOnce,
} from '@heliograph/server/access/keys'
import { modules, scopes } from '@heliograph/server/http/endpoint'
import { scopeModules } from '@heliograph/server/http/scope-modules'
import {
  type Cli,
  commaList,
  command,
  decimal,
  type Reporting,
  utcInstant,
  wholeNumber,
  type YesOption,
  yes,
} from './command.ts'
import { listOf, minute } from './terminal.ts'

export function addKeyCommands(program: Reporting, cli: Cli): void {
  const { confirm, withAdmin } = cli
  const keys = program.command('keys').description('the API keys of clients')

  addCreate(keys, cli)

  command(keys, 'list', 'List the keys of one client or of all, without secrets.', 'keys list')
    .option('--client <name>', 'only the keys of this client')
    .fromDatabase(keyTable, (admin, { client }: { client?: string }) => listKeys(admin, { client }))

  addRotate(keys, cli)

  command(
    keys,
    'revoke <key_id>',
    'Revoke a key permanently, on all servers within a second.',
    'keys revoke 0123456789ab',
  )
    .option(...yes)
    .result(async (key_id: string, options: YesOption) => {
      const key = await withAdmin((admin) => findKey(admin, key_id))
      if (key.state !== 'revoked' && !options.yes) {
        await confirm(
          `Revoke ${titleOf(key)}? Programs that use it lose access. This cannot be undone.`,
        )
      }
      const revoked = await withAdmin((admin) => revokeKey(admin, key_id))
      return { json: revoked, text: keyTable([revoked]) }
    })
}

interface CreateOptions {
  client: string
  name: string
  scopes: string[]
  sites?: string[]
  expiresAt?: Date
  generalPerMinute?: number
  writePerMinute?: number
}

/** Scopes by the module that the plan of the client must include. */
const scopesHelp = `\nScopes, by the module of the plan that they need:\n${modules
  .map((module) => {
    const of_module = scopes.filter((scope) => scopeModules[scope] === module)
    return `  ${module}: ${of_module.join(' ')}`
  })
  .join('\n')}`

function addCreate(keys: Reporting, { operator }: Cli): void {
  command(
    keys,
    'create',
    'Create a key of a client, within its plan. The key is shown only once.',
    'keys create --client "Sunny Fields" --name dashboard --scopes plant:read,energy:read',
  )
    .requiredOption('--client <name>', 'client of the key')
    .requiredOption('--name <name>', 'name of the key, recorded with its writes')
    .requiredOption('--scopes <list>', 'permissions: see below', commaList)
    .addHelpText('after', scopesHelp)
    .option(
      '--sites <list>',
      'sites of the key; defaults to all sites, including later ones',
      commaList,
    )
    .option(
      '--expires-at <time>',
      'UTC, such as 2027-01-31T00:00:00Z; defaults to never',
      utcInstant,
    )
    .option(
      '--general-per-minute <n>',
      'requests per minute; defaults to the limit of the server',
      wholeNumber,
    )
    .option(
      '--write-per-minute <n>',
      'writes per minute; defaults to the limit of the server',
      wholeNumber,
    )
    .fromDatabase(shownOnce, (admin, options: CreateOptions) => {
      const { client, name, scopes, sites, expiresAt, generalPerMinute, writePerMinute } = options
      return createKey(admin, {
        client,
        name,
        scopes,
        created_by: operator,
        site_ids: sites ?? null,
        expires_at: expiresAt ?? null,
        general_per_minute: generalPerMinute ?? null,
        write_per_minute: writePerMinute ?? null,
      })
    })
}

function addRotate(keys: Reporting, { confirm, withAdmin }: Cli): void {
  command(
    keys,
    'rotate <key_id>',
    'Give a key a new secret, shown only once. The old one stays valid for the overlap.',
    'keys rotate 0123456789ab --overlap-hours 48',
  )
    .option(
      '--overlap-hours <hours>',
      'validity of the old secret, 0 to 720',
      decimal,
      overlap_s_default / 3600,
    )
    .option(...yes)
    .result(async (key_id: string, options: YesOption & { overlapHours: number }) => {
      const key = await withAdmin((admin) => findKey(admin, key_id))
      const ended = endedByRotation(key, options.overlapHours)
      if (ended && !options.yes) {
        await confirm(`Rotate ${titleOf(key)}? ${ended} becomes invalid.`)
      }
      const overlap_s = options.overlapHours * 3600
      const rotated = await withAdmin((admin) => rotateKey(admin, { key_id, overlap_s }))
      return { json: rotated, text: shownOnce(rotated) }
    })
}

/** Secrets that a rotation invalidates at once; null when there are none. */
function endedByRotation({ state, previous_until }: ApiKeyRecord, overlap_h: number) {
  if (state === 'revoked' || state === 'expired') return null
  if (overlap_h === 0) return 'Every old secret'
  return state === 'rotating'
    ? `The secret before its last rotation, accepted until ${minute(previous_until)},`
    : null
}

const titleOf = ({ key_id, name, client }: ApiKeyRecord) => `key ${key_id} (${name}) of ${client}`

function shownOnce(key: ShownOnce): string {
  const overlap =
    key.state === 'rotating' ? `\nThe old secret is valid until ${minute(key.previous_until)}.` : ''
  return (
    `${titleOf(key)[0]!.toUpperCase()}${titleOf(key).slice(1)}:\n\n  ${key.key}\n\n` +
    `The key is shown only once.${overlap}`
  )
}

const keyTable = (keys: readonly ApiKeyRecord[]) =>
  listOf('There are no keys.', keys, {
    KEY: 'key_id',
    CLIENT: 'client',
    NAME: 'name',
    STATE: 'state',
    EXPIRES: 'expires_at',
    'LAST USED': 'last_used_at',
    SITES: ({ site_ids }) => site_ids ?? 'all',
    SCOPES: 'scopes',
  })
