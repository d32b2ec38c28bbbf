#!/usr/bin/env node
/** `heliograph-edge`: what operators do on the edge's own machine. The agent may run or not. */
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { access, open, readFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { createInterface } from 'node:readline/promises'
import { promisify } from 'node:util'
import { systemClock, systemStopwatch, systemTimers } from '@heliograph/domain/clock'
import { parseSiteFile } from '@heliograph/domain/site-file'
import { describeProblems } from '@heliograph/domain/yaml-file'
import { Command, CommanderError, InvalidArgumentError } from 'commander'
import { readSavedPcs } from './battery/dispatch-store.ts'
import { type CheckOptions, checkCommand } from './commissioning/check-command.ts'
import { type ReadOptions, readCommand } from './commissioning/read-command.ts'
import { type RecordOptions, recordCommand } from './commissioning/record-command.ts'
import { type ScanOptions, scanCommand } from './commissioning/scan-command.ts'
import { type SetupOptions, setupCommand } from './commissioning/setup-command.ts'
import { readFiles, readOperator, readSetupConfig } from './config.ts'
import { control_log_dir, readSavedDevices } from './control/control-store.ts'
import {
  deviceName,
  deviceOf,
  nameOf,
  type PcsKey,
  pcsId,
  pcsName,
  pcsOf,
  pcsTitle,
} from './control/device-name.ts'
import { askToForget, openRequests } from './control/limit-requests.ts'
import { externalOf, isCounting, limitsText, pcsText } from './control/limits-text.ts'
import { findPermit, permitPlaces } from './control/permit-copy.ts'
import {
  type PermitSite,
  parsePermitFile,
  permitSiteOf,
  sealPermitFile,
} from './control/permit-file.ts'
import { boundsOf } from './control/permit-terms.ts'
import { runProof } from './control/proof-run.ts'

const failed = 1
const usage = 2
const wrong_permit = 3
const exceeded = 4
const incomplete = 5

const help = `
Exit codes: 0 done, and of a proof: kept; 1 failed, 2 wrong usage or no such device, 3 the permit
file is wrong, 4 the permit was exceeded, 5 the log is incomplete or not as it was written.

Example:
  heliograph-edge permit seal /etc/heliograph/permit.yaml
  heliograph-edge setup --server https://plants.example.com
  heliograph-edge limits
  heliograph-edge scan 192.168.1.0/24 --out site.yaml
  heliograph-edge check --site-file site.yaml --out commissioning
  heliograph-edge proof --from 2027-01-31T00:00:00Z --to 2027-02-01T00:00:00Z`

const note = (message: string) => process.stderr.write(`heliograph-edge: ${message}\n`)

async function say(text: string): Promise<void> {
  if (!process.stdout.write(text)) await once(process.stdout, 'drain')
}

async function prove(options: { from: number; to?: number; json?: true; dataDir?: string }) {
  const now = systemClock.now().getTime()
  const period = { from_at: options.from, to_at: options.to ?? now }
  if (period.from_at >= period.to_at) throw new Error('--from must be before --to')
  const dir = join(options.dataDir ?? readFiles().data_dir, control_log_dir)
  await access(dir).catch((error: NodeJS.ErrnoException) => {
    const where = 'EDGE_DATA_DIR or --data-dir must name the data directory of the agent'
    throw new Error(`there is no control log at ${dir} (${error.code}): ${where}`)
  })
  const pieces = runProof({ dir, period, now }, options.json ? 'json' : 'text')
  for (;;) {
    const { value, done } = await pieces.next()
    if (!done) {
      await say(value)
      continue
    }
    const { verdict, breaks } = value
    if (verdict.is === 'broken') process.exitCode = exceeded
    else if (verdict.is === 'incomplete' || breaks.length > 0) process.exitCode = incomplete
    return
  }
}

async function seal(path: string): Promise<void> {
  const text = await readFile(path, 'utf8')
  const sealed = sealPermitFile(text)
  if ('problems' in sealed) return tellWrong(path, sealed.problems)
  try {
    await overwrite(path, sealed.text)
  } catch (error) {
    // There is room for what was there before.
    await overwrite(path, text)
    throw error
  }
  await say(`${path} is sealed\n`)
}

/** Writes into the file as it lies there, so that it keeps its owner and mode. */
async function overwrite(path: string, text: string): Promise<void> {
  const file = await open(path, 'r+')
  try {
    await file.writeFile(text)
    await file.truncate(Buffer.byteLength(text))
    await file.sync()
  } finally {
    await file.close()
  }
}

async function check(path: string, options: { siteFile?: string }): Promise<void> {
  const site_file = options.siteFile ?? readFiles().site_file
  const site = await siteOf(site_file, options.siteFile !== undefined)
  const parsed = parsePermitFile(await readFile(path, 'utf8'), site)
  if ('problems' in parsed) return tellWrong(path, parsed.problems)
  if (!site) note(`there is no ${site_file}: the plants were not checked`)
  for (const logger_id of site?.plants?.keys() ?? []) {
    if (parsed.file.plants.every((plant) => plant.logger_id !== logger_id)) {
      note(`plant ${logger_id} has no permit: nothing of it will be raised`)
    }
  }
  await say(`${path} is right and sealed\n`)
}

/** What the agent goes by: the accepted file, and the last figure of plants without an entry. */
async function show(options: { dataDir?: string }): Promise<void> {
  const dir = options.dataDir ?? readFiles().data_dir
  const onFault = ({ message }: Error) => note(message)
  const { permit, accepted } = await findPermit({ ...permitPlaces(dir), onFault }, null)
  if (!permit) throw new Error(`no permit was ever accepted in ${dir}`)
  const guard_pct = accepted?.file.guard_pct ?? 0
  const kw = (power_w: number) => `${(power_w / 1000).toFixed(3)} kW`
  const line = (name: string, text: string) => `${name.padEnd(18)}  ${text}\n`
  for (const [logger_id, bound_w] of boundsOf(permit)) {
    const has_entry = permit.plant_w.has(logger_id)
    const lapsed = has_entry ? '' : '; no entry any more: nothing of it is raised'
    await say(line(`plant ${logger_id}`, `at most ${kw(bound_w)}${lapsed}`))
  }
  if (permit.site_w !== null) await say(line('common connection', `at most ${kw(permit.site_w)}`))
  if (guard_pct > 0) await say(`The guard of ${guard_pct} % is already taken off.\n`)
}

async function siteOf(path: string, is_asked_for: boolean): Promise<PermitSite | null> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (is_asked_for || error.code !== 'ENOENT') throw error
    return null
  })
  if (text === null) return null
  const parsed = parseSiteFile(text)
  if ('site' in parsed) return permitSiteOf(parsed.site)
  const problems = describeProblems(basename(path), parsed.problems)
  throw new Error(`${path} is wrong itself:\n${problems.join('\n')}`)
}

function tellWrong(path: string, problems: readonly string[]): void {
  for (const problem of problems) note(`${basename(path)}:${problem}`)
  process.exitCode = wrong_permit
}

async function savedDevices(dir: string) {
  const devices = await readSavedDevices(dir)
  if (devices) return devices
  const where = 'EDGE_DATA_DIR or --data-dir must name the data directory of the agent'
  throw new Error(`${dir} remembers nothing of devices: ${where}`)
}

async function list(options: { dataDir?: string }): Promise<void> {
  const dir = options.dataDir ?? readFiles().data_dir
  const devices = await savedDevices(dir)
  const asked = await openRequests(dir)
  const ids = new Set(asked.flatMap(({ inverter_id = [] }) => inverter_id))
  await say(`${limitsText(devices, ids)}\n`)
  const pcs_ids = new Set(asked.flatMap((one) => ('bess_id' in one ? pcsId(one) : [])))
  const of_pcs = pcsText(await readSavedPcs(dir), pcs_ids)
  if (of_pcs !== '') await say(`${of_pcs}\n`)
}

/** What every request has. */
function request() {
  const asked_at = systemClock.now().getTime()
  return { request_id: `${asked_at}-${process.pid}`, asked_at, asked_by: readOperator() }
}

const later = 'a running agent does it within seconds, a stopped one when it starts'

async function forget(device: number | PcsKey, _: unknown, command: Command): Promise<void> {
  const options: { dataDir?: string } = command.optsWithGlobals()
  const dir = options.dataDir ?? readFiles().data_dir
  if (typeof device === 'number') await forgetLimit(dir, device)
  else await forgetPcs(dir, device)
}

async function forgetPcs(dir: string, pcs: PcsKey): Promise<void> {
  const counting = (await readSavedPcs(dir)).filter(({ left }) => left.length > 0)
  if (counting.every((one) => pcsId(one) !== pcsId(pcs))) {
    const names = counting.map(pcsName).join(', ') || 'none'
    note(`${pcsTitle(pcs)} is not known to have left site.yaml; these are: ${names}`)
    process.exitCode = usage
    return
  }
  await askToForget(dir, { ...request(), ...pcs, is_disconnected: true })
  await say(`${pcsTitle(pcs)}, not in site.yaml any more, is to count no more: ${later}\n`)
}

async function forgetLimit(dir: string, inverter_id: number): Promise<void> {
  const devices = await savedDevices(dir)
  const record = devices.get(inverter_id)
  const name = nameOf(inverter_id)
  if (!record) {
    const known = [...devices.keys()].map(deviceName).join(', ') || 'none'
    note(`${name} is not known here; these are: ${known}`)
    process.exitCode = usage
    return
  }
  const asked = { ...request(), inverter_id }
  if (isCounting(record)) {
    await askToForget(dir, { ...asked, is_disconnected: true })
    return await say(`${name}, not in site.yaml any more, is to count no more: ${later}
`)
  }
  const external_w = externalOf(record)
  if (external_w === null) throw new Error(`no limit of another is remembered of ${name}`)
  await askToForget(dir, { ...asked, external_w })
  await say(`the limit of another at ${name} is to be forgotten: ${later}\n`)
}

/** A first Ctrl-C or SIGTERM: a trial gives its limit back before the command ends. */
function interrupted(): AbortSignal {
  const controller = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => controller.abort())
  return controller.signal
}

/** What a person types; nothing at the end of the input. */
async function question(text: string): Promise<string> {
  const lines = createInterface({ input: process.stdin, output: process.stderr })
  const closed = new Promise<string>((resolve) => lines.once('close', () => resolve('')))
  lines.once('SIGINT', () => {
    process.emit('SIGINT')
    lines.close()
  })
  try {
    return (await Promise.race([lines.question(text).catch(() => ''), closed])).trim()
  } finally {
    lines.close()
  }
}

function limitedDevice(text: string): number | PcsKey {
  const device = deviceOf(text) ?? pcsOf(text)
  if (device !== null) return device
  const names = 'an inverter_id, plant-<logger_id>, or pcs-<bess_id>.<pcs_idx>'
  throw new InvalidArgumentError(`It must be ${names}.`)
}

/** An instant in UTC, `2027-01-31T00:00:00Z`; days that do not exist are refused. */
function utcInstant(text: string): number {
  const match = /^(\d{4}-\d\d-\d\dT\d\d:\d\d)(?:(:\d\d)(\.\d\d\d)?)?Z$/.exec(text)
  const instant = new Date(text)
  const written = match && `${match[1]}${match[2] ?? ':00'}${match[3] ?? '.000'}Z`
  if (written && !Number.isNaN(instant.getTime()) && instant.toISOString() === written) {
    return instant.getTime()
  }
  throw new InvalidArgumentError('It must be a time in UTC such as 2027-01-31T00:00:00Z.')
}

function wholeNumber(text: string): number {
  if (/^\d{1,5}$/.test(text)) return Number(text)
  throw new InvalidArgumentError('It must be a whole number.')
}

async function readVersion(): Promise<string> {
  return JSON.parse(await readFile(new URL('package.json', import.meta.url), 'utf8')).version
}

/** Returns false where no systemd runs: sd_booted(3). */
async function restartService(): Promise<boolean> {
  if (!existsSync('/run/systemd/system')) return false
  await promisify(execFile)('systemctl', ['restart', 'heliograph-edge'])
  return true
}

function placesOf({ siteFile, dataDir }: { siteFile?: string; dataDir?: string }) {
  const { site_file, data_dir } = readFiles()
  return { site_file: siteFile ?? site_file, data_dir: dataDir ?? data_dir }
}

const program = new Command('heliograph-edge')
  .description(
    'At the edge of a site: its grid permit, the limits of its devices and the proof; and how its ' +
      'devices are found, read and checked.',
  )
  .addHelpText('after', help)
  .exitOverride()
program
  .command('proof')
  .description(
    'Prints what was permitted, ordered, set, read back and measured, and what was wrong.',
  )
  .requiredOption('--from <instant>', 'in UTC, such as 2027-01-31T00:00:00Z', utcInstant)
  .option('--to <instant>', 'until before this; without it until now', utcInstant)
  .option('--json', 'print one JSON document')
  .option('--data-dir <dir>', "the agent's EDGE_DATA_DIR, where that is not set")
  .action(prove)
const permit = program.command('permit').description('The permit file.')
permit
  .command('seal')
  .description('Writes the checksum that fits into a permit file.')
  .argument('<file>')
  .action(seal)
permit
  .command('show')
  .description('Prints the permit that the agent on this machine goes by.')
  .option('--data-dir <dir>', "the agent's EDGE_DATA_DIR, where that is not set")
  .action(show)
permit
  .command('check')
  .description('Says what is wrong with a permit file.')
  .argument('<file>')
  .option('--site-file <file>', 'site.yaml to hold it against; otherwise SITE_FILE')
  .action(check)

const limits = program
  .command('limits')
  .description('Lists what the edge remembers of the limits of its devices.')
  .option('--data-dir <dir>', "the agent's EDGE_DATA_DIR, where that is not set")
  .action(list)
limits
  .command('forget')
  .description(
    "The limit of another at this device is nobody's; or, where it is not in site.yaml any more, " +
      'it is disconnected and counts no more. Permit and rows alone decide.',
  )
  .argument('<inverter_id>', 'as `limits` lists it', limitedDevice)
  .action(forget)

program
  .command('setup')
  .description(
    'Makes this machine the gateway of a site: checks server, clock, certificate and disk, ' +
      'exchanges a one-time code of the platform for the token of the agent, and starts it.',
  )
  .argument('[code]', 'the code; asked for without it')
  .requiredOption('--server <url>', 'address of the platform, such as https://plants.example.com')
  .action(async (code: string | undefined, options: SetupOptions) =>
    setupCommand(code, options, {
      config: readSetupConfig(),
      agent_version: await readVersion(),
      clock: systemClock,
      stopwatch: systemStopwatch,
      timers: systemTimers,
      question,
      note,
      say,
      restart: restartService,
    }),
  )

program
  .command('scan')
  .description(
    'Finds Modbus devices, recognises them and writes a site.yaml. Nothing is written to a device.',
  )
  .argument('[target...]', 'networks such as 192.168.1.0/24, and hosts')
  .option('--ports <ports>', 'TCP ports', '502,1502')
  .option('--units <ids>', 'unit ids', '1-247,0')
  .option('--serial <path...>', 'serial lines such as /dev/ttyUSB0')
  .option('--baud <rates>', 'of serial lines, one after the other', '9600,19200')
  .option('--parity <parity>', 'of serial lines: none, even or odd', 'none')
  .option('--out <file>', 'the file to write; without it, the text is printed')
  .option('--force', 'replace the file')
  .option('--data-dir <dir>', "the agent's EDGE_DATA_DIR, where that is not set")
  .action((targets: string[], options: ScanOptions & { dataDir?: string }) =>
    scanCommand(targets, options, {
      clock: systemClock,
      data_dir: options.dataDir ?? readFiles().data_dir,
      note,
      say,
    }),
  )

program
  .command('read')
  .description('Shows every value of a device with its registers. Nothing is written to it.')
  .argument('<device>', 'its name in the site file, or its host with --driver')
  .option('--driver <driver>', 'the driver, as in the site file')
  .option('--unit <id>', 'its unit id', wholeNumber, 1)
  .option('--port <port>', 'its TCP port', wholeNumber, 502)
  .option('--json', 'print JSON, one line for each read')
  .option('--watch', 'read each second')
  .option('--site-file <file>', 'the site file; otherwise SITE_FILE')
  .option('--data-dir <dir>', "the agent's EDGE_DATA_DIR, where that is not set")
  .action((target: string, options: ReadOptions & { siteFile?: string; dataDir?: string }) =>
    readCommand(target, options, { ...placesOf(options), say }),
  )

program
  .command('record')
  .description(
    'Writes a recording of a device with a profile: its registers and values, without serial ' +
      'numbers or addresses. Nothing is written to it.',
  )
  .argument('<device>', 'its name in the site file, or its host with --driver')
  .requiredOption('--out <file>', 'the file to write')
  .option('--driver <driver>', 'the driver, as in the site file')
  .option('--unit <id>', 'its unit id', wholeNumber, 1)
  .option('--port <port>', 'its TCP port', wholeNumber, 502)
  .option('--force', 'replace the file')
  .option('--site-file <file>', 'the site file; otherwise SITE_FILE')
  .option('--data-dir <dir>', "the agent's EDGE_DATA_DIR, where that is not set")
  .action((target: string, options: RecordOptions & { siteFile?: string; dataDir?: string }) =>
    recordCommand(target, options, { ...placesOf(options), note }),
  )

program
  .command('check')
  .description(
    'The commissioning test: reads every quantity of every device in the site file, compares them, ' +
      'prints the tests and writes a protocol as JSON and PDF. Nothing is written to a device, ' +
      'unless a limit is tried. Exit code 1: a test failed.',
  )
  .option(
    '--try-limits',
    'also limit one device after the other for a while, each after a typed yes, through the ' +
      'control of the edge and under its permit',
  )
  .option('--yes <device...>', 'try the limits of these devices, by name, without a question')
  .option('--out <path>', 'the protocol, without .json and .pdf')
  .option('--force', 'replace the files')
  .option('--site-file <file>', 'the site file; otherwise SITE_FILE')
  .option('--data-dir <dir>', "the agent's EDGE_DATA_DIR, where that is not set")
  .action(async (options: CheckOptions & { siteFile?: string; dataDir?: string }) => {
    const version = await readVersion()
    const is_passed = await checkCommand(options, {
      ...placesOf(options),
      clock: systemClock,
      stopwatch: systemStopwatch,
      timers: systemTimers,
      agent_version: version,
      interrupted,
      question,
      software: `heliograph-edge ${version}`,
      run_by: readOperator(),
      note,
      say,
    })
    if (!is_passed) process.exitCode = failed
  })

// `heliograph-edge proof … | head` ends when that has enough.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  process.exit(error.code === 'EPIPE' ? 0 : failed)
})

try {
  await program.parseAsync()
} catch (error) {
  if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? 0 : usage
  else {
    note((error as Error).message)
    process.exitCode = failed
  }
}
