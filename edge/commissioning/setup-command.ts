/** `heliograph-edge setup`: makes this machine the gateway of a site, by a code of the platform. */
import { hostname } from 'node:os'
import { checksText } from '@heliograph/domain/check'
import type { Clock, Stopwatch, Timers } from '@heliograph/domain/clock'
import {
  ExchangedCode,
  enrolmentCodeOf,
  exchangePath,
  GatewayStatus,
  lookPath,
} from '@heliograph/domain/enrolment'
import { parseSiteFile } from '@heliograph/domain/site-file'
import type { Static, TSchema } from 'typebox'
import { Value } from 'typebox/value'
import type { SetupConfig } from '../config.ts'
import { readIfThere, writeDurably } from '../durable-file.ts'
import { checkDisk, checkServer, filesCheck } from './setup-checks.ts'

export interface SetupOptions {
  server: string
}

interface Needs {
  config: SetupConfig
  agent_version: string
  clock: Clock
  stopwatch: Stopwatch
  timers: Timers
  question(text: string): Promise<string>
  note(text: string): void
  say(text: string): Promise<void>
  /** Starts the service, or starts it again; false where no service manager runs. */
  restart(): Promise<boolean>
}

const look_ms = 3000
/** An agent connects a second after its start, and back-off adds up to fifteen. */
const connect_ms_max = 60_000

const refusals: Record<NonNullable<ExchangedCode['reason']>, string> = {
  unknown: 'the code is not known here: check it for typing errors',
  used: 'the code was used before: create another on the platform',
  expired: 'the code has expired: create another on the platform',
  revoked: 'the code was revoked: create another on the platform',
  locked: 'there were too many wrong codes: create another on the platform',
}

export async function setupCommand(
  typed: string | undefined,
  { server }: SetupOptions,
  needs: Needs,
): Promise<void> {
  const { config, say } = needs
  const base = serverUrl(server)
  await checkMachine(base, needs)
  const code = enrolmentCodeOf(typed ?? (await needs.question('Code from the platform: ')))
  if (code === null)
    throw new Error('the code has 16 letters and digits, such as 7KQ0-3M2P-XV5R-8TBC')
  const { agent_version } = needs
  const body = { code, gateway: hostname(), agent_version }
  const exchanged = await ask(base, { path: exchangePath, body, returns: ExchangedCode })
  if (exchanged.reason !== null) throw new Error(refusals[exchanged.reason])
  const token = exchanged.token!
  const site_id = exchanged.site_id!
  if (exchanged.state === 'waiting') {
    await say(
      `${exchanged.site_name} has another gateway. Waiting until an administrator confirms on the ` +
        'platform that this one takes over …\n',
    )
    await untilConfirmed(base, token, needs)
  }
  await writeDurably(config.token_file, `${token}\n`)
  const server_url = base.href.replace(/^http/, 'ws').replace(/\/$/, '')
  if (config.settings_file) await writeServerUrl(config.settings_file, server_url)
  await say(`This machine is the gateway of ${exchanged.site_name} (${site_id}).\n`)
  await startAgent({ base, token, site_id, server_url }, needs)
}

/** The address with which requests begin, ending in `/`. */
function serverUrl(text: string): URL {
  const url = URL.parse(text.replace(/^ws/, 'http'))
  const is_plain = url && url.username + url.password + url.search + url.hash === ''
  if (!is_plain || !/^https?:$/.test(url.protocol)) {
    throw new Error(
      `--server: an https:// address such as https://plants.example.com, not '${text}'`,
    )
  }
  if (!url.pathname.endsWith('/')) url.pathname += '/'
  return url
}

async function checkMachine(base: URL, { config, say, ...needs }: Needs): Promise<void> {
  const { token_file, settings_file, data_dir, journal_bytes_max } = config
  const checks = [
    await filesCheck(settings_file ? [token_file, settings_file] : [token_file]),
    await checkDisk(data_dir, journal_bytes_max),
    ...(await checkServer(base, needs)),
  ]
  await say(`${checksText(checks)}\n`)
  if (checks.some(({ state }) => state === 'error')) {
    throw new Error('setup has changed nothing, and the code was not used')
  }
}

interface Asked<Returns extends TSchema> {
  path: string
  body: object
  returns: Returns
}

async function ask<Returns extends TSchema>(
  base: URL,
  { path, body, returns }: Asked<Returns>,
): Promise<Static<Returns>> {
  const answer = await fetch(new URL(path.slice(1), base), {
    method: 'POST',
    // Code and token go to the server whose certificate was checked.
    redirect: 'error',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(30_000),
  })
  const given = await answer.json().catch(() => null)
  if (answer.ok && Value.Check(returns, given)) return given
  const reason = given?.error?.message ?? 'no answer of this platform'
  throw new Error(`${base.host}: ${answer.status}, ${reason}`)
}

async function untilConfirmed(base: URL, token: string, needs: Needs): Promise<void> {
  const { state } = (await lookUntil(base, token, needs, {
    isOver: ({ state }) => state !== 'waiting',
  }))!
  if (state === 'enrolled') return
  throw new Error('the platform refused this gateway, or nobody confirmed it within an hour')
}

interface Watch {
  isOver(status: GatewayStatus): boolean
  ms_max?: number
}

/** Looks until it is over; null after `ms_max`. A platform that does not answer is asked again. */
async function lookUntil(
  base: URL,
  token: string,
  { stopwatch, timers, note }: Pick<Needs, 'stopwatch' | 'timers' | 'note'>,
  { isOver, ms_max = Number.POSITIVE_INFINITY }: Watch,
): Promise<GatewayStatus | null> {
  const began_ms = stopwatch.elapsedMs()
  let noted = ''
  while (stopwatch.elapsedMs() - began_ms < ms_max) {
    try {
      const status = await ask(base, { path: lookPath, body: { token }, returns: GatewayStatus })
      if (isOver(status)) return status
    } catch (error) {
      const { message } = error as Error
      if (message !== noted) note(message)
      noted = message
    }
    await new Promise<void>((resolve) => timers.after(look_ms, resolve))
  }
  return null
}

/** Replaces the line of the setting, commented out or not, or adds it. */
async function writeServerUrl(file: string, server_url: string): Promise<void> {
  const text = (await readIfThere(file)) ?? ''
  const line = `SERVER_URL=${server_url}`
  const known = /^#?SERVER_URL=.*$/m
  const changed = known.test(text) ? text.replace(known, line) : `${text}${line}\n`
  await writeDurably(file, changed, 0o644)
}

interface Enrolled {
  base: URL
  token: string
  site_id: string
  server_url: string
}

async function startAgent(enrolled: Enrolled, needs: Needs): Promise<void> {
  const { config, say, note } = needs
  const missing = await siteFileProblem(config.site_file, enrolled.site_id)
  if (missing !== null) note(missing)
  const is_started = missing === null && config.settings_file !== null && (await needs.restart())
  if (!is_started) {
    const settings = `SERVER_URL=${enrolled.server_url} EDGE_TOKEN_FILE=${config.token_file}`
    const start = config.settings_file
      ? 'sudo systemctl restart heliograph-edge'
      : `${settings} npm run edge`
    return say(`${missing === null ? 'Start' : 'Then start'} the agent: ${start}\n`)
  }
  await say('The agent was started. Waiting until it is connected …\n')
  const isOver = (status: GatewayStatus) => status.is_connected
  const connected = await lookUntil(enrolled.base, enrolled.token, needs, {
    isOver,
    ms_max: connect_ms_max,
  })
  if (connected) return say('The agent is connected.\n')
  throw new Error('the agent has not connected within a minute: journalctl -u heliograph-edge')
}

/** Why the agent could not start with the site file; null when it can. */
async function siteFileProblem(site_file: string, site_id: string): Promise<string | null> {
  const text = await readIfThere(site_file)
  const scan = `heliograph-edge scan 192.168.1.0/24 --out ${site_file}`
  if (text === null) {
    return `there is no ${site_file} yet: write it with \`site_id: ${site_id}\`, for example by ${scan}`
  }
  const parsed = parseSiteFile(text)
  if (!('site' in parsed)) return `${site_file} is wrong: heliograph-edge read says where`
  if (parsed.site.site_id === site_id) return null
  return `${site_file} is of site ${parsed.site.site_id}: change it to \`site_id: ${site_id}\``
}
