/** The proof for people: one line for each thing that happened, and what it comes to. */
import type { ControlEntry, Found, PcsFound } from './control-entry.ts'
import type { LogItem, Period } from './control-log-file.ts'
import type { ControlState } from './control-state.ts'
import { pcsId } from './device-name.ts'
import type { PowerQuarter } from './proof.ts'
import { type Cause, coming_down_ms, type Verdict } from './proof.ts'

export type LogBreak = Extract<LogItem, { is: 'break' }>

/** What was permitted, and which rows were known, when the period began. */
export function headText({ from_at, to_at }: Period, state: ControlState): string {
  const lines = [`Control log from ${time(from_at)} until ${time(to_at)} (UTC)`]
  const { permit_file, permit } = state
  const held = permit_file ?? permit
  lines.push(held ? `At its beginning ${whatOf(held)}` : 'At its beginning no permit was known')
  for (const row of state.rows.values()) lines.push(`At its beginning ${whatOf(row)}`)
  return lines.join('\n')
}

export function entryText(entry: ControlEntry): string {
  return `${time(entry.at)}  ${subjectOf(entry).padEnd(14)}  ${whatOf(entry)}`
}

export function quarterText(quarter: PowerQuarter): string {
  const { from_at, logger_id, bess_id, min_w, max_w, permit_w } = quarter
  const least = min_w === null ? 'at least ' : `${kw(min_w)} to `
  const measured = max_w === null ? 'not measured' : `measured ${least}${kw(max_w)}`
  const permitted = permit_w === null ? 'no permit known' : `permitted ${kw(permit_w)}`
  const of_plant = bess_id === undefined ? `, ${permitted}` : ''
  const what = `${measured}${of_plant}, in the 15 minutes from then`
  const subject = bess_id === undefined ? `plant ${logger_id}` : `battery ${bess_id}`
  return `${time(from_at)}  ${subject.padEnd(14)}  ${what}`
}

export function breakText({ file, line, what }: LogBreak): string {
  return `LOG BROKEN at ${file}:${line}: ${what}`
}

export function verdictText(verdict: Verdict, breaks: readonly LogBreak[]): string {
  const { orders, failed_orders, read_backs, entry_count } = verdict
  const lines = [
    '',
    `${entry_count} entries, ${orders} writes of which ${failed_orders} failed, ${read_backs} read-backs`,
    ...mostWritten(verdict),
    ...verdict.oversteps.map(
      ({ from_at, to_at, logger_id, cause, inverter_id, pcs_id, allowed_max_w, permit_w }) => {
        const device = inverter_id === null ? pcs_id && `PCS ${pcs_id}` : `inverter ${inverter_id}`
        const why = `${causes[cause]}${device === undefined ? '' : ` (${device})`}`
        const what = `up to ${kw(allowed_max_w)} were allowed, ${kw(permit_w)} permitted`
        return `EXCEEDED ${span(from_at, to_at)}, ${plant(logger_id)}: ${what}: ${why}`
      },
    ),
    ...verdict.coming_down.map(({ from_at, to_at, logger_id, allowed_max_w, permit_w }) => {
      const what = `up to ${kw(allowed_max_w)} were allowed, ${kw(permit_w)} permitted`
      const why = `the permit became known, or lower, at most ${coming_down_ms / 1000} s before`
      return `COMING DOWN ${span(from_at, to_at)}, ${plant(logger_id)}: ${what}: ${why}`
    }),
    ...verdict.overpowers.map(({ from_at, to_at, logger_id, power_max_w, permit_w }) => {
      const what = `up to ${kw(power_max_w)} were measured, ${kw(permit_w)} permitted`
      return `EXCEEDED ${span(from_at, to_at)}, ${plant(logger_id)}: ${what}`
    }),
    ...verdict.possible_excesses.map(({ from_at, to_at, logger_id, permit_w, ...bounds }) => {
      const { power_w, at_most_w } = bounds
      const what = `${kw(power_w ?? 0)} to ${kw(at_most_w)} were fed in, ${kw(permit_w)} permitted`
      const why = 'not each device was measured in that poll round'
      return `POSSIBLE ${span(from_at, to_at)}, ${plant(logger_id)}: ${what}: ${why}`
    }),
    ...verdict.gaps.map(({ from_at, to_at, what }) => `GAP ${span(from_at, to_at)}: ${what}`),
    ...verdict.without_permit.map((logger_id) => `NO PERMIT was known of plant ${logger_id}`),
    ...breaks.map(breakText),
    conclusion(verdict, breaks),
    ...exception(verdict),
  ]
  return lines.join('\n')
}

/** Registers wear out. */
function mostWritten({ device_orders: [most] }: Verdict): string[] {
  if (!most) return []
  const { inverter_id, orders, day_max } = most
  return [`Most writes to one device: inverter ${inverter_id}, ${orders}, at most ${day_max} a day`]
}

function conclusion({ is }: Verdict, breaks: readonly LogBreak[]): string {
  if (is === 'broken') return 'Result: the permit was EXCEEDED at the times above.'
  const far = 'Result: no instant that the log tells of exceeded the permit, but it is'
  if (breaks.length > 0) return `${far} not as it was written.`
  if (is === 'incomplete') return `${far} not complete.`
  return 'Result: no instant exceeded the permit.'
}

function exception({ coming_down }: Verdict): string[] {
  if (coming_down.length === 0) return []
  return [`Not counted: the ${coming_down_ms / 1000} s after a permit became known, or lower.`]
}

const causes: Readonly<Record<Cause, string>> = {
  write: 'by a write of this edge',
  device: 'a limit or setpoint was read that this edge did not set',
  silence: 'a device did not answer and counts with all that it can deliver',
  permit: 'the permit became known, or lower',
  site: 'the site became known or another, and not all of it was limited yet',
  unknown: 'so it was when the log of that day began',
}

function subjectOf(entry: ControlEntry): string {
  if ('pcs_idx' in entry) return `PCS ${pcsId(entry)}`
  if ('bess_id' in entry) return `battery ${entry.bess_id}`
  if ('inverter_id' in entry) return `inverter ${entry.inverter_id}`
  if ('logger_id' in entry) return `plant ${entry.logger_id}`
  return entry.is === 'row' ? `plant ${entry.row.logger_id}` : ''
}

function whatOf(entry: ControlEntry): string {
  switch (entry.is) {
    case 'started':
      return 'the agent started'
    case 'stopped':
      return 'the agent stopped'
    case 'permit_file':
      return `the permit is ${permitText(entry)}${entry.guard_pct ? `, guard ${entry.guard_pct} %` : ''}`
    case 'permit':
      return `control keeps to ${permitText(entry)}`
    case 'site':
      return siteText(entry)
    case 'row':
      return rowText(entry.row)
    case 'decision':
      return decisionText(entry)
    case 'order':
      return `WRITE ${entry.is_raise ? 'raise to' : 'lower to'} ${kw(entry.limit_w)}`
    case 'trial':
      return entry.limit_w === null
        ? 'the trial of a limit is over'
        : `${entry.asked_by} tries a limit of ${kw(entry.limit_w)}`
    case 'unsent':
      return `was not told ${kw(entry.limit_w)}, which was overtaken or not written down`
    case 'answer':
      return `answer to ${kw(entry.limit_w)}: ${entry.error ?? 'accepted'}; ${foundText(entry.found)}`
    case 'limit':
      return `${foundText(entry.found)}${entry.foreign ? `; ${foreigns[entry.foreign]}` : ''}`
    case 'armed':
      return entry.complaints.length > 0 ? `checked: ${entry.complaints.join('; ')}` : 'checked'
    case 'forgotten':
      return forgottenText(entry)
    case 'disconnected':
    case 'pcs_disconnected':
      return disconnectedText(entry)
    case 'pcs_order':
      return `WRITE ${entry.is_raise ? 'raise to' : 'set to'} ${kw(entry.power_w)}`
    case 'pcs':
      return pcsText(entry)
    case 'gone':
      return `does not answer${entry.stays ? '; its limit stays' : ''}`
    case 'round':
      return 'one poll round measured'
    case 'sun':
      return suns[entry.sun]
    case 'fault':
      return `control failed its own check: ${entry.message}`
    case 'lost':
      return `${entry.entries} entries before this one could not be written`
    case 'carried':
      return 'what holds from before'
  }
}

const suns = {
  day: 'it is day: an inverter that does not answer counts with all that it can deliver',
  low: 'the sun is low: an inverter that does not answer may be asleep, and is not counted',
  night: 'it is night: an inverter that does not answer is asleep, and delivers nothing',
} as const

function decisionText(entry: Extract<ControlEntry, { is: 'decision' }>): string {
  const { ceiling_w, held_by, worst_w, is_known = true } = entry
  const worst = `at worst ${kw(worst_w)}`
  // Then it is the part of those devices alone that answered already.
  return is_known ? `held to ${kw(ceiling_w)} (${held_by}), ${worst}` : `not known yet, ${worst}`
}

function forgottenText(entry: Extract<ControlEntry, { is: 'forgotten' }>): string {
  const { external_w, asked_at, asked_by, refusal } = entry
  const asked = `${asked_by} asked at ${time(asked_at)} to forget another's ${kw(external_w)}`
  return `${asked}: ${refusal === null ? 'done' : `not done, ${refusal}`}`
}

type Disconnected = Extract<ControlEntry, { is: 'disconnected' | 'pcs_disconnected' }>

function disconnectedText(entry: Disconnected): string {
  const { asked_at, asked_by, refusal } = entry
  const said = `${asked_by} said at ${time(asked_at)} that it is disconnected`
  return `${said}: ${refusal === null ? 'it counts no more' : `nothing done, ${refusal}`}`
}

function siteText({ plants, pcs = [] }: Extract<ControlEntry, { is: 'site' }>): string {
  const beside = pcs.length > 0 ? `, and ${pcs.length} PCS of batteries` : ''
  return `the site has ${plants.length} plants${beside}`
}

const obedience = {
  yes: '',
  local: 'commanded by another, counts with all that it can; ',
  silent: 'does not answer, counts with all that it can; ',
} as const

function pcsText({ obeys, setpoint_w, held_max_w, falls_back_to_w, ...pcs }: PcsFound): string {
  const read = setpoint_w === null ? 'no setpoint' : kw(setpoint_w)
  const back = falls_back_to_w === null ? '' : `, falls back to ${kw(falls_back_to_w)}`
  const held = held_max_w > Math.max(0, setpoint_w ?? 0) ? `; may hold ${kw(held_max_w)} yet` : ''
  const can = `can ${kw(pcs.discharge_max_w)}`
  return `${obedience[obeys]}read: ${read}${back}${held}; ${can}`
}

const foreigns = {
  lowered: 'lowered by another',
  raised: 'raised by another',
  lost: 'lost while it was away',
} as const

function permitText(permit: Extract<ControlEntry, { is: 'permit' | 'permit_file' }>): string {
  const { lapsed = [] } = permit.is === 'permit' ? permit : {}
  const ofPlant = ({ logger_id, permit_w }: { logger_id: number; permit_w: number }) =>
    `plant ${logger_id} ${kw(permit_w)}`
  const plants = [
    ...permit.plants.map(ofPlant),
    ...lapsed.map((entry) => `${ofPlant(entry)} as before its entry was taken out`),
  ]
  const all = permit.site_w === null ? [] : [`together ${kw(permit.site_w)}`]
  return [...plants, ...all].join(', ') || 'none'
}

function rowText(row: Extract<ControlEntry, { is: 'row' }>['row']): string {
  const { group_id, logger_id, start_at, end_at, max_power_kw, released_at, source } = row
  const released = released_at === null ? '' : `, released ${time(released_at)}`
  const end = source === undefined ? time(end_at) : `replaced by ${source}`
  const when = `${time(start_at)} until ${end}`
  return `row ${group_id}: plant ${logger_id} at most ${kw(max_power_kw * 1000)}, ${when}${released}`
}

function foundText(found: Found | null): string {
  if (!found) return 'not read back'
  const { limit_w, static_max_w } = found
  return limit_w === null ? `read: no limit, can ${kw(static_max_w)}` : `read: ${kw(limit_w)}`
}

const plant = (logger_id: number | null) =>
  logger_id === null ? 'all plants' : `plant ${logger_id}`
const kw = (w: number | null) => (w === null ? 'nothing' : `${(w / 1000).toFixed(3)} kW`)
const time = (at: number) => new Date(at).toISOString().replace('T', ' ').replace('Z', '')
const span = (from_at: number, to_at: number | null) =>
  `${time(from_at)} ${to_at === null ? 'and on' : `until ${time(to_at)}`}`
