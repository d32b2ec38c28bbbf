/**
 * The operator's proof over the control log of a run, held against what the devices and the
 * database know of it: each write and row is told, no instant broke the permit, and a log of which
 * one line was changed is not believed.
 */

import { execFile } from 'node:child_process'
import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { second_ms } from '@heliograph/domain/durations'
import type { ControlEntry } from '@heliograph/edge/control/control-entry'
import type { LogGap, Overstep, PowerQuarter } from '@heliograph/edge/control/proof'
import { program_environment } from '../program-environment.ts'
import type { JudgedRow } from './control-judge.ts'
import { permit } from './controlled-site.ts'
import { edge_program } from './edge-program.ts'
import type { Write } from './inverter-peer.ts'

export interface ProvenRun {
  edge_dir: string
  /** When the permit first held. */
  armed_at: number
  writes: readonly Write[]
  rows: readonly JudgedRow[]
  kills: number
}

interface Proof {
  result: string
  entries: ControlEntry[]
  held: ControlEntry[]
  power: PowerQuarter[]
  oversteps: Overstep[]
  overpowers: unknown[]
  without_permit: unknown[]
  gaps: LogGap[]
  breaks: { file: string; line: number; what: string }[]
}

interface Printed {
  code: number
  text: string
}

const kept = 0
const exceeded = 4
const incomplete = 5
/** After the last write that the permit needed: until it was read back. */
const settled_ms = 2000
/** The clock of the edge counts in steps of so long. */
const clock_step_ms = 10

/** What the proof says that it should not, or does not say. */
export async function proofFaults(run: ProvenRun): Promise<string[]> {
  const { edge_dir, armed_at } = run
  const period = { from_at: wholeSecond(armed_at + settled_ms), to_at: Date.now() }
  const all = await prove(edge_dir, period, '--json')
  const proof = JSON.parse(all.text) as Proof
  // On a machine that is busy an inverter may answer too late for once: then it counts in full.
  const silent = proof.oversteps.filter(({ cause }) => cause === 'silence')
  const loud = proof.oversteps.filter(({ cause }) => cause !== 'silence')
  const code = silent.length > 0 ? exceeded : proof.gaps.length > 0 ? incomplete : kept
  const [one_run, altered] = await Promise.all([
    oneRunFaults(edge_dir, longestRun([...proof.gaps, ...silent], period)),
    alteredFaults(edge_dir, period),
  ])
  return [
    ...unless(all.code === code, `it ends with ${all.code}`),
    ...[...loud, ...proof.overpowers, ...proof.breaks, ...proof.without_permit].map(
      (found) => `it tells of ${JSON.stringify(found)}`,
    ),
    ...gapFaults(proof.gaps, run.kills),
    ...unless(
      proof.power.some(({ samples }) => samples > 0),
      'it tells of no measured power',
    ),
    ...untoldWrites(proof, run.writes),
    ...untoldRows(
      proof,
      run.rows.filter(({ over_at }) => over_at > period.from_at),
    ),
    ...one_run,
    ...altered,
  ].map((fault) => `proof: ${fault}`)
}

/** Where the edge was killed, nobody knows what happened until it was back; else it tells all. */
function gapFaults(gaps: readonly LogGap[], kills: number): string[] {
  const others = gaps.filter(({ why }) => why !== 'ended')
  return [
    ...others.map((gap) => `it tells of ${JSON.stringify(gap)}`),
    ...unless(gaps.length <= kills, `${gaps.length} gaps come of ${kills} kills`),
  ]
}

/**
 * Every limit that a device wrote down was announced before, with this figure; a lower one is told
 * for a second before that, and is sent then, so that a kill may lose its entry.
 */
function untoldWrites({ entries, gaps }: Proof, writes: readonly Write[]): string[] {
  const orders = entries.filter((entry) => entry.is === 'order')
  const answered = entries.some((entry) => entry.is === 'answer' && entry.found !== null)
  const first_at = entries[0]?.at ?? Number.POSITIVE_INFINITY
  const before = new Map<number, number>()
  const untold = writes.filter(({ at, inverter_id, allowed_w }) => {
    const before_w = before.get(inverter_id) ?? Number.NEGATIVE_INFINITY
    const is_news = before_w !== allowed_w
    before.set(inverter_id, allowed_w)
    const is_lost = allowed_w < before_w && gaps.some((gap) => at >= gap.from_at && at <= gap.to_at)
    const isOfIt = (order: (typeof orders)[number]) =>
      order.inverter_id === inverter_id &&
      order.limit_w === Math.ceil(allowed_w) &&
      order.at <= at + clock_step_ms
    return is_news && !is_lost && at > first_at && !orders.some(isOfIt)
  })
  return [
    ...unless(orders.length > 0 && answered, 'it tells of no write, or of no read-back'),
    ...untold.map((write) => `it does not tell of ${JSON.stringify(write)}`),
  ]
}

function untoldRows({ entries, held }: Proof, rows: readonly JudgedRow[]): string[] {
  const told = [...held, ...entries].flatMap((entry) =>
    entry.is === 'row' ? [`${entry.row.group_id}/${entry.row.logger_id}`] : [],
  )
  return rows
    .map(({ group_id, logger_id }) => `${group_id}/${logger_id}`)
    .filter((name) => !told.includes(name))
    .map((name) => `it does not tell of row ${name}`)
}

/** Of the longest time for which the edge ran in one go it says that nothing was wrong. */
async function oneRunFaults(edge_dir: string, period: Period): Promise<string[]> {
  const { code, text } = await prove(edge_dir, period)
  const [plant_w] = permit.plant_w.values()
  const parts = {
    permit: `plant 1 ${(plant_w! / 1000).toFixed(3)} kW`,
    'common permit': `together ${(permit.site_w / 1000).toFixed(3)} kW`,
    row: / row \S+: plant \d at most /,
    write: / inverter \d +WRITE (?:lower|raise) to [\d.]+ kW/,
    'read-back': / inverter \d +answer to [\d.]+ kW: accepted; read: [\d.]+ kW/,
    'measured power': / plant \d +measured [\d.]+ kW to [\d.]+ kW, permitted /,
    verdict: /^Result: no instant exceeded the permit\.$/m,
  }
  const untold = Object.entries(parts).flatMap(([name, part]) =>
    (typeof part === 'string' ? text.includes(part) : part.test(text)) ? [] : [name],
  )
  if (code === kept && untold.length === 0) return []
  return [`of one run it ends with ${code} and lacks ${untold.join(', ') || 'nothing'}:\n${text}`]
}

interface Period {
  from_at: number
  to_at: number
}

/** The longest part of the period without one of these. */
function longestRun(
  disturbed: readonly { from_at: number; to_at: number | null }[],
  { from_at, to_at }: Period,
): Period {
  let longest = { from_at, to_at: from_at }
  let at = from_at
  const end = { from_at: to_at, to_at }
  for (const one of [...disturbed, end].toSorted((a, b) => a.from_at - b.from_at)) {
    if (one.from_at - at > longest.to_at - longest.from_at) {
      longest = { from_at: at, to_at: one.from_at }
    }
    at = Math.max(at, wholeSecond(one.to_at ?? to_at))
  }
  return longest
}

/** Another figure in the place of one that was ordered: nothing in the line itself is wrong. */
async function alteredFaults(edge_dir: string, period: Period): Promise<string[]> {
  const copy = `${edge_dir}-altered`
  const log = join(copy, 'control-log')
  cpSync(join(edge_dir, 'control-log'), log, { recursive: true })
  const name = readdirSync(log)
    .filter((file) => file.endsWith('.jsonl'))
    .at(-1)!
  const lines = readFileSync(join(log, name), 'utf8').split('\n')
  const nth = lines.findLastIndex((line) => line.includes('"is":"order"'))
  const altered = lines[nth]!.replace(/(?<="limit_w":)\d/, (digit) => (digit === '1' ? '2' : '1'))
  writeFileSync(join(log, name), lines.with(nth, altered).join('\n'))
  const { code, text } = await prove(copy, period)
  const told = `LOG BROKEN at ${name}:${nth + 1}: this entry was changed`
  const is_found = [exceeded, incomplete].includes(code) && text.includes(told)
  return unless(
    is_found,
    `a changed line is not found, it ends with ${code}:\n${text.slice(-2000)}`,
  )
}

/** Runs as its operator runs it. */
function prove(data_dir: string, { from_at, to_at }: Period, ...more: string[]): Promise<Printed> {
  const instant = (at: number) => `${new Date(at).toISOString().slice(0, 19)}Z`
  const period = ['--from', instant(from_at), '--to', instant(to_at)]
  const words = [edge_program, 'proof', ...period, '--data-dir', data_dir, ...more]
  const options = { maxBuffer: 1e9, env: program_environment }
  return new Promise((resolve) => {
    execFile(process.execPath, words, options, (error, text, notes) => {
      resolve({ code: Number(error?.code ?? 0), text: text || notes })
    })
  })
}

const wholeSecond = (at: number) => Math.ceil(at / second_ms) * second_ms
const unless = (is_right: boolean, what: string) => (is_right ? [] : [what])
