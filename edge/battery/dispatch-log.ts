/**
 * What is told of one battery: a report of each setpoint and what came of it, and a note of each
 * change of who decides. A change to less severe is told once it has held for a while, so that what
 * comes and goes fills no log. What came of a setpoint is not taken back: where it fails later, is
 * held by something else or goes on after that, another report begins.
 */
import type { ControlNote, DispatchReport } from '@heliograph/domain/dispatch'
import type { DispatchDecision } from './decide-dispatch.ts'
import type { Asked } from './dispatch-hours.ts'

export interface Seen {
  /** Unix ms. */
  now: number
  now_ms: number
  asked: Asked | null
  decision: DispatchDecision
  told_w: number
  /** Each PCS holds what it was told. */
  is_proven: boolean
  /** When each PCS was told another setpoint last, and when it was seen there, as of `now_ms`. */
  written: readonly PcsWritten[]
  measured_w: number | null
  /** Its setpoint is not taken: why, in a word. */
  failure: string | null
  soc_pct: number | null
  tolerance_w: number
}

interface PcsWritten {
  /** Put on the line; null: never. */
  sent_ms: number | null
  /** null: it was not read back yet. */
  taken_ms: number | null
}

interface DispatchLogNeeds {
  bess_id: number
  /** Of an earlier run: it goes on where the same is asked. */
  report: DispatchReport | null
  onReport(report: DispatchReport): void
  onNote(note: ControlNote): void
}

/** A change to less severe is told when it has held for so long. */
const easing_ms = 10_000
/** What a clamp leaves is told again where it changed and stayed, and else so often. */
const again_ms = 60_000

interface Told {
  key: string
  is_severe: boolean
  to_power_kw: number | null
  was_overridden: boolean
}

interface Since {
  at: number
  ms: number
}

export class DispatchLog {
  readonly #needs: DispatchLogNeeds
  #report: DispatchReport | null
  #report_key = ''
  #issued_at: number
  #reported_ms = Number.NEGATIVE_INFINITY
  #reported: DispatchReport | null = null
  #told: Told | null = null
  #easing: Since | null = null
  /** What is left of what is asked, and since when. */
  #left = { power_kw: 0, ms: 0 }
  /** Since when the PCS hold where it is to come to. */
  #there_ms: number | null = null
  #last = { at: 0, nth: -1 }

  constructor(needs: DispatchLogNeeds) {
    this.#needs = needs
    this.#report = needs.report
    this.#issued_at = needs.report?.issued_at ?? 0
    if (needs.report) this.#report_key = keyOf(needs.report)
  }

  /** The newest; null: there was none. */
  get report(): DispatchReport | null {
    return this.#report
  }

  /** At each tick. */
  look(seen: Seen): void {
    const power_kw = kw(seen.decision.aim_w)
    if (power_kw !== this.#left.power_kw) this.#left = { power_kw, ms: seen.now_ms }
    this.#there_ms = isThere(seen) ? (this.#there_ms ?? seen.now_ms) : null
    const since = this.#note(seen)
    this.#follow(seen, since)
  }

  /** Since when this decision holds; null: it is not what was told. */
  #note(seen: Seen): Since | null {
    const { decision, asked, now_ms } = seen
    const now: Since = { at: seen.now, ms: now_ms }
    const key = `${decision.tier}/${decision.code}/${decision.alarm_code}/${asked?.schedule_id}`
    const interval = `${asked?.interval_start_at}/${asked?.power_w}`
    const of_interval = decision.tier === 'dispatch' ? `${key}/${interval}` : key
    if (of_interval === this.#told?.key) {
      this.#easing = null
      if (this.#isOther(this.#told, seen)) this.#tell(seen, of_interval, now)
      return now
    }
    const is_severe = decision.tier !== 'dispatch'
    let since = now
    if (this.#told?.is_severe && !is_severe) {
      this.#easing ??= now
      if (now_ms - this.#easing.ms < easing_ms) return null
      since = this.#easing
    }
    this.#easing = null
    this.#tell(seen, of_interval, since)
    return since
  }

  /** What it comes to is another figure than was told, and has been for a while. */
  #isOther({ to_power_kw: told_kw }: Told, { now_ms, tolerance_w }: Seen): boolean {
    const { power_kw, ms } = this.#left
    if (power_kw === told_kw || now_ms - ms < easing_ms) return false
    const is_clear = Math.abs(power_kw - (told_kw ?? 0)) > kw(tolerance_w)
    return is_clear || told_kw === null || told_kw === 0 || power_kw === 0
  }

  #tell({ decision, asked, soc_pct, failure }: Seen, key: string, { at }: Since): void {
    const { bess_id, onNote } = this.#needs
    const nth = at === this.#last.at ? this.#last.nth + 1 : 0
    this.#last = { at, nth }
    const was_overridden = this.#told?.was_overridden ?? false
    const to_power_kw = this.#left.power_kw
    onNote({
      bess_id,
      at,
      nth,
      tier: decision.tier,
      actor: 'edge',
      action: actionOf(decision, was_overridden),
      from_power_kw: this.#told?.to_power_kw ?? null,
      to_power_kw,
      reason_code: decision.code,
      message: messageOf(decision),
      overrode_tier: asked === null ? null : decision.overrode_tier,
      schedule_id: asked?.schedule_id ?? null,
      alarm_code: decision.alarm_code,
      soc_pct,
      success: failure === null,
    })
    const is_severe = decision.tier !== 'dispatch'
    this.#told = { key, is_severe, to_power_kw, was_overridden: is_severe }
  }

  #follow(seen: Seen, since: Since | null): void {
    const { asked, now_ms } = seen
    const key = asked === null ? '' : keyOfAsked(asked)
    if (key !== this.#report_key) {
      this.#end(seen)
      this.#report_key = key
    }
    // What was eased and not told yet is no new setpoint.
    if (asked === null || since === null) return
    const before = this.#report
    const begins = before === null || this.#isOver(before, seen)
    const next = this.#grown(begins ? this.#begin(seen, asked, since) : before, seen)
    if (begins || isNews(next, before) || this.#isDue(next, seen)) this.#put(next, now_ms)
    else this.#report = { ...next, reported_at: before.reported_at }
  }

  /** What is told of it stays as it is: what holds now is another setpoint. */
  #isOver(report: DispatchReport, seen: Seen): boolean {
    if (isOpen(report)) return false
    const failure = failureOf(seen)
    if ((report.status === 'failed') !== (failure !== null)) return true
    // Which of two failures of one cause is seen first says nothing.
    const is_settled = seen.now_ms - this.#reported_ms >= easing_ms
    if (failure !== null) return failure !== report.failure_code && is_settled
    return report.clamp_reason !== seen.decision.clamp_reason || report.source !== sourceOf(seen)
  }

  /** What a clamp leaves moves on, and what came of that. */
  #isDue(next: DispatchReport, { now_ms, tolerance_w }: Seen): boolean {
    if (next.clamp_reason === null) return false
    const told = this.#reported
    const strays_kw = Math.abs((next.achieved_power_kw ?? 0) - (told?.achieved_power_kw ?? 0))
    const is_other = next.clamped_power_kw !== told?.clamped_power_kw
    if (!is_other && strays_kw <= kw(tolerance_w)) return false
    const there_ms = this.#there_ms ?? Number.NEGATIVE_INFINITY
    const since_ms = Math.max(this.#left.ms, there_ms, this.#reported_ms)
    return now_ms - since_ms >= easing_ms || now_ms - this.#reported_ms >= again_ms
  }

  #begin({ now, soc_pct }: Seen, asked: Asked, since: Since): DispatchReport {
    return {
      bess_id: this.#needs.bess_id,
      // Of one battery no two are of one instant.
      issued_at: Math.max(since.at, this.#issued_at + 1),
      reported_at: now,
      schedule_id: asked.schedule_id,
      interval_start_at: asked.interval_start_at,
      source: 'schedule',
      requested_power_kw: kw(asked.power_w),
      clamped_power_kw: null,
      clamp_reason: null,
      sent_at: null,
      acknowledged_at: null,
      achieved_power_kw: null,
      achieved_at: null,
      soc_pct,
      failure_code: null,
      status: 'sent',
    }
  }

  #grown(report: DispatchReport, seen: Seen): DispatchReport {
    const { now, decision, measured_w } = seen
    const strays_w = Math.abs((measured_w ?? Number.POSITIVE_INFINITY) - decision.aim_w)
    const is_achieved = isThere(seen) && strays_w <= seen.tolerance_w
    const failure_code = failureOf(seen)
    const is_failed = failure_code !== null
    const { clamp_reason } = decision
    const is_clamped = clamp_reason !== null
    const is_settled =
      this.#there_ms !== null && seen.now_ms - this.#there_ms >= (is_achieved ? 0 : easing_ms)
    const is_measured = is_settled && (is_clamped || report.achieved_at === null)
    const { sent_at, taken_at } = writtenSince(report.issued_at, seen)
    const acknowledged_at = report.acknowledged_at ?? (is_failed ? null : taken_at)
    const is_taken = acknowledged_at !== null
    return {
      ...report,
      reported_at: Math.max(now, report.reported_at),
      source: sourceOf(seen),
      clamp_reason,
      clamped_power_kw: kw(decision.aim_w),
      sent_at: report.acknowledged_at === null ? (report.sent_at ?? sent_at) : report.sent_at,
      acknowledged_at,
      achieved_at: report.achieved_at ?? (is_achieved && !is_failed ? now : null),
      achieved_power_kw:
        !is_failed && is_measured && measured_w !== null
          ? kw(measured_w)
          : report.achieved_power_kw,
      soc_pct: seen.soc_pct ?? report.soc_pct,
      status: laterOf(report.status, statusOf({ is_failed, is_clamped, is_taken, is_achieved })),
      failure_code,
    }
  }

  /** What was not reached by the end of its interval. */
  #end({ now, now_ms, measured_w }: Seen): void {
    const report = this.#report
    this.#report = null
    if (!report || !isOpen(report)) return
    const power_kw = measured_w === null ? report.achieved_power_kw : kw(measured_w)
    const is_on_its_way = report.acknowledged_at !== null
    const reported_at = Math.max(now, report.reported_at)
    const ended: DispatchReport = is_on_its_way
      ? {
          ...report,
          reported_at,
          status: 'clamped',
          achieved_power_kw: power_kw,
          clamp_reason: 'ramp',
          clamped_power_kw: power_kw,
        }
      : { ...report, reported_at, status: 'expired' }
    this.#put(ended, now_ms)
    this.#report = null
  }

  #put(report: DispatchReport, now_ms: number): void {
    this.#report = report
    this.#issued_at = report.issued_at
    this.#reported_ms = now_ms
    this.#reported = report
    this.#needs.onReport(report)
  }
}

const isOpen = ({ status }: DispatchReport) => status === 'sent' || status === 'acknowledged'

const isThere = ({ is_proven, told_w, decision, tolerance_w }: Seen) =>
  is_proven && Math.abs(told_w - decision.aim_w) <= tolerance_w

/** What it has come to is not taken back by a write that only keeps it. */
function laterOf(before: DispatchReport['status'], now: DispatchReport['status']) {
  const stages: readonly DispatchReport['status'][] = ['sent', 'acknowledged', 'achieved']
  return stages.includes(now) && stages.indexOf(now) < stages.indexOf(before) ? before : now
}

const isNews = (next: DispatchReport, before: DispatchReport) =>
  next.status !== before.status ||
  next.clamp_reason !== before.clamp_reason ||
  next.source !== before.source ||
  next.failure_code !== before.failure_code ||
  (next.acknowledged_at !== null && before.acknowledged_at === null) ||
  (next.achieved_power_kw !== null && before.achieved_power_kw === null) ||
  (next.achieved_at !== null && before.achieved_at === null)

/** A curtailment is a setpoint of an operator. */
const sourceOf = ({ decision }: Seen): DispatchReport['source'] =>
  decision.tier === 'operator' ? 'operator' : 'schedule'

const failureOf = ({ decision, failure }: Seen): string | null =>
  failure ?? (isInDoubt(decision) ? decision.code : null)

/** By the clock, of what was written since; at the begin, where nothing was and it stands there. */
function writtenSince(issued_at: number, seen: Seen) {
  const { now, now_ms, written } = seen
  const since = (all: readonly (number | null)[]) =>
    all
      .filter((ms) => ms !== null)
      .map((ms) => Math.min(now, Math.round(now - (now_ms - ms))))
      .filter((at) => at >= issued_at)
  const sent = since(written.map(({ sent_ms }) => sent_ms))
  const taken = since(written.map(({ taken_ms }) => taken_ms))
  const is_taken = taken.length === written.length || isThere(seen)
  return {
    sent_at: sent.length === 0 ? null : Math.min(...sent),
    taken_at: is_taken ? Math.max(issued_at, ...taken) : null,
  }
}

const kw = (power_w: number) => power_w / 1000

const keyOfAsked = ({ schedule_id, interval_start_at, power_w }: Asked) =>
  `${schedule_id}/${interval_start_at}/${kw(power_w)}`

const keyOf = (report: DispatchReport) =>
  `${report.schedule_id}/${report.interval_start_at}/${report.requested_power_kw}`

const watched = ['battery_stale', 'pcs_stale', 'heartbeat_lost']

/** What a change to this decision is called. */
function actionOf(
  { tier, code, clamp_reason, overrode_tier }: DispatchDecision,
  was_overridden: boolean,
): ControlNote['action'] {
  if (watched.includes(code)) return 'watchdog'
  if (code === 'local_control') return 'handover'
  if (code === 'no_schedule') return 'hold'
  if (tier === 'dispatch') return was_overridden ? 'release' : 'setpoint'
  return clamp_reason === null || clamp_reason === 'alarm' || overrode_tier === null
    ? 'stop'
    : 'clamp'
}

const messages: Readonly<Record<string, string>> = {
  schedule: 'its schedule decides',
  no_schedule: 'no approved schedule says anything of now',
  soc_min: 'it is at the lower end of its window',
  soc_max: 'it is at the upper end of its window',
  bms_limit: 'its management system allows less than is asked for',
  pcs_limit: 'its PCS allow less than is asked for',
  rated_power: 'more than its rated power is asked for',
  permit: 'the grid permit leaves less than is asked for',
  curtailment: 'a curtailment leaves less than is asked for',
  alarm: 'its management system has a critical alarm',
  fire_system: 'its fire system has an alarm or a fault',
  contactor_open: 'its contactors are open',
  pcs_alarm: 'its PCS has a critical alarm, or a fault',
  battery_stale: 'its management system was not read lately',
  pcs_stale: 'its PCS were not read lately',
  pcs_not_ready: 'its PCS cannot be commanded',
  heartbeat_lost: 'a heartbeat stands still',
  local_control: 'it is commanded on site',
  clock_in_doubt: 'the clock jumped, and is not trusted yet',
}

const messageOf = ({ code }: DispatchDecision) =>
  messages[code] ?? `its state is ${code.replace(/^state_/, '')}`

/** It stands still for what is not known, and nothing that is known holds it. */
const isInDoubt = ({ tier, clamp_reason }: DispatchDecision) =>
  tier === 'protection' && clamp_reason === null

/** How far a report has come, by what was seen of it. */
function statusOf(seen: {
  is_failed: boolean
  is_clamped: boolean
  is_taken: boolean
  is_achieved: boolean
}): DispatchReport['status'] {
  if (seen.is_failed) return 'failed'
  if (seen.is_clamped) return 'clamped'
  if (seen.is_achieved) return 'achieved'
  return seen.is_taken ? 'acknowledged' : 'sent'
}
