/**
 * What is told of one battery: a report of each setpoint and what came of it, and a note of each
 * change of who decides. A change to less severe is told once it has held for a while, so that what
 * comes and goes fills no log.
 */
import type { ControlNote, DispatchReport } from '@heliograph/domain/dispatch'
import type { DispatchDecision } from './decide-dispatch.ts'
import type { Asked } from './dispatch-hours.ts'
import { actionOf, messageOf, statusOf } from './dispatch-words.ts'

export interface Seen {
  /** Unix ms. */
  now: number
  now_ms: number
  asked: Asked | null
  decision: DispatchDecision
  /** Its setpoint, or one that it held lately, may tell of the permit. */
  is_hidden: boolean
  told_w: number
  /** Each PCS holds what it was told. */
  is_proven: boolean
  measured_w: number | null
  /** Its setpoint is not taken: why, in a word. */
  failure: string | null
  soc_pct: number | null
  tolerance_w: number
}

export interface DispatchLogNeeds {
  bess_id: number
  /** Of an earlier run: it goes on where the same is asked. */
  report: DispatchReport | null
  onReport(report: DispatchReport): void
  onNote(note: ControlNote): void
}

/** A change to less severe is told when it has held for so long. */
const easing_ms = 10_000
/** What is measured of a setpoint that holds is told again so often. */
const again_ms = 60_000

interface Told {
  key: string
  is_severe: boolean
  to_power_kw: number | null
  was_overridden: boolean
}

export class DispatchLog {
  readonly #needs: DispatchLogNeeds
  #report: DispatchReport | null
  #report_key = ''
  #issued_at: number
  #reported_ms = Number.NEGATIVE_INFINITY
  #told: Told | null = null
  #easing_ms: number | null = null
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
    const is_told = this.#note(seen)
    this.#follow(seen, is_told)
  }

  /** Whether this decision is what was told. */
  #note(seen: Seen): boolean {
    const { decision, asked, now_ms } = seen
    const key = `${decision.tier}/${decision.code}/${decision.alarm_code}/${asked?.schedule_id}`
    const interval = `${asked?.interval_start_at}/${asked?.power_w}`
    const of_interval = decision.tier === 'dispatch' ? `${key}/${interval}` : key
    if (of_interval === this.#told?.key) {
      this.#easing_ms = null
      return true
    }
    const is_severe = decision.tier !== 'dispatch'
    if (this.#told?.is_severe && !is_severe) {
      this.#easing_ms ??= now_ms
      if (now_ms - this.#easing_ms < easing_ms) return false
    }
    this.#easing_ms = null
    this.#tell(seen, of_interval)
    return true
  }

  #tell({ now, decision, asked, is_hidden, soc_pct, failure }: Seen, key: string): void {
    const { bess_id, onNote } = this.#needs
    const nth = now === this.#last.at ? this.#last.nth + 1 : 0
    this.#last = { at: now, nth }
    const was_overridden = this.#told?.was_overridden ?? false
    const to_power_kw = is_hidden ? null : kw(decision.aim_w)
    onNote({
      ...{ bess_id, at: now, nth, tier: decision.tier, actor: 'edge' },
      action: actionOf(decision, was_overridden),
      from_power_kw: this.#told?.to_power_kw ?? null,
      to_power_kw,
      reason_code: decision.code,
      message: messageOf(decision),
      overrode_tier: asked === null ? null : decision.overrode_tier,
      schedule_id: asked?.schedule_id ?? null,
      ...{ alarm_code: decision.alarm_code, soc_pct, success: failure === null },
    })
    const is_severe = decision.tier !== 'dispatch'
    this.#told = { key, is_severe, to_power_kw, was_overridden: is_severe }
  }

  #follow(seen: Seen, is_told: boolean): void {
    const { asked, decision } = seen
    const key = asked === null ? '' : keyOfAsked(asked)
    if (key !== this.#report_key) {
      this.#end(seen)
      this.#report_key = key
    }
    // What was eased and not told yet is no new setpoint.
    if (asked === null || !is_told) return
    const report = this.#report ?? this.#begin(seen, asked)
    const is_clamp_new = report.clamp_reason !== clampOf(seen) && !isOpen(report)
    const next = this.#grown(is_clamp_new ? this.#begin(seen, asked) : report, seen)
    const is_late = seen.now_ms - this.#reported_ms >= again_ms
    const is_change =
      next.status !== report.status ||
      next.clamp_reason !== report.clamp_reason ||
      next.failure_code !== report.failure_code ||
      next.issued_at !== report.issued_at
    if (is_change || (is_late && decision.aim_w !== 0)) this.#put(next, seen.now_ms)
    else if (this.#report === null) this.#put(next, seen.now_ms)
    else this.#report = { ...next, reported_at: report.reported_at }
  }

  #begin({ now, soc_pct }: Seen, asked: Asked): DispatchReport {
    return {
      bess_id: this.#needs.bess_id,
      // Of one battery no two are of one instant.
      issued_at: Math.max(now, this.#issued_at + 1),
      reported_at: now,
      schedule_id: asked.schedule_id,
      interval_start_at: asked.interval_start_at,
      source: 'schedule',
      requested_power_kw: kw(asked.power_w),
      ...{ clamped_power_kw: null, clamp_reason: null, sent_at: null, acknowledged_at: null },
      ...{ achieved_power_kw: null, achieved_at: null, soc_pct, failure_code: null },
      status: 'sent',
    }
  }

  #grown(report: DispatchReport, seen: Seen): DispatchReport {
    const { now, decision, measured_w, is_proven, told_w, failure } = seen
    const is_there = is_proven && Math.abs(told_w - decision.aim_w) <= seen.tolerance_w
    const strays_w = Math.abs((measured_w ?? Number.POSITIVE_INFINITY) - decision.aim_w)
    const is_achieved = is_there && strays_w <= seen.tolerance_w
    const status = statusOf(decision, { is_failed: failure !== null, is_proven, is_achieved })
    const clamp_reason = clampOf(seen)
    return {
      ...report,
      reported_at: Math.max(now, report.reported_at),
      clamp_reason,
      clamped_power_kw:
        clamp_reason === null || clamp_reason === 'permit' ? null : kw(decision.aim_w),
      sent_at: report.sent_at ?? now,
      acknowledged_at: report.acknowledged_at ?? (is_proven ? now : null),
      achieved_at: report.achieved_at ?? (is_achieved ? now : null),
      achieved_power_kw: measured_w === null ? report.achieved_power_kw : kw(measured_w),
      soc_pct: seen.soc_pct ?? report.soc_pct,
      status,
      failure_code: status === 'failed' ? (failure ?? decision.code) : null,
    }
  }

  /** What was not reached by the end of its interval. */
  #end({ now, now_ms, is_hidden }: Seen): void {
    const report = this.#report
    this.#report = null
    if (!report || !isOpen(report)) return
    const is_on_its_way = report.acknowledged_at !== null
    const ended: DispatchReport = {
      ...report,
      reported_at: Math.max(now, report.reported_at),
      status: is_on_its_way ? 'clamped' : 'expired',
      clamp_reason: is_on_its_way ? (is_hidden ? 'permit' : 'ramp') : null,
      clamped_power_kw: is_on_its_way && !is_hidden ? report.achieved_power_kw : null,
    }
    this.#put(ended, now_ms)
    this.#report = null
  }

  #put(report: DispatchReport, now_ms: number): void {
    this.#report = report
    this.#issued_at = report.issued_at
    this.#reported_ms = now_ms
    this.#needs.onReport(report)
  }
}

const isOpen = ({ status }: DispatchReport) => status === 'sent' || status === 'acknowledged'

/** Where its figure may be one of the permit, the permit is what it is told as. */
function clampOf({ decision, is_hidden }: Seen): DispatchReport['clamp_reason'] {
  if (decision.clamp_reason === null) return null
  return is_hidden && decision.tier !== 'protection' ? 'permit' : decision.clamp_reason
}

const kw = (power_w: number) => power_w / 1000

const keyOfAsked = ({ schedule_id, interval_start_at, power_w }: Asked) =>
  `${schedule_id}/${interval_start_at}/${kw(power_w)}`

const keyOf = (report: DispatchReport) =>
  `${report.schedule_id}/${report.interval_start_at}/${report.requested_power_kw}`
