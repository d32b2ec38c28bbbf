/** The trial of a limit on one device, through the control of the edge, and what is measured. */
import type { Stopwatch, Timers } from '@heliograph/domain/clock'
import type { TrialView } from '../control/limit-trials.ts'
import { inTime } from '../in-time.ts'
import { doorLines } from './door-lines.ts'
import { judged, type TestRow, without } from './test-row.ts'
import { type TrialAnswer, type TrialRequest, trialDoorPath } from './trial-door.ts'

export interface TriedLimit {
  device: string
  /** Null for a limit that was tried. */
  not_tried: string | null
  limit_kw: number | null
  /** What the registers let the device deliver before. */
  found_kw: number | null
  power_before_kw: number | null
  /** From the request until the registers show the limit; null: they did not. */
  read_back_s: number | null
  /** Until the measured power is within the limit; null: it was not, or was within before. */
  power_s: number | null
  /** From the end of the request until the registers show what was found; null: they did not. */
  returned_s: number | null
  /** Latency and ramp as declared. */
  declared_s: number | null
  /** Why control ended the trial early; null: it did not. */
  over: string | null
}

const look_ms = 200
const answer_ms_max = 10_000
/** A device may have to be read first. */
const ready_ms_max = 60_000
const lowered_ms_max = 120_000
/** The rest of what control allows for a trial. */
const return_ms_max = 150_000
/** A tick, the disk, the write, a poll. */
const allowance_s = 15
/** Below this part of the rating, power does not show a limit. */
const loaded_part = 0.1
/** Errors of measurement, of the rating. */
const power_part = 0.02

interface Place {
  data_dir: string
  stopwatch: Stopwatch
  timers: Timers
}

interface Needs extends Place {
  asked_by: string
  /** Gives the limit back early. */
  signal: AbortSignal
  /** Whether a person agrees to that limit. */
  agree(limit_kw: number): Promise<boolean>
}

function openTrials({ data_dir, timers, stopwatch }: Place) {
  const lines = doorLines(trialDoorPath(data_dir))
  return {
    async ask(request: TrialRequest) {
      const line = await inTime(lines.ask(request), answer_ms_max, timers)
      if (line === 'late') throw new Error('the edge does not answer')
      const answer: TrialAnswer = JSON.parse(line)
      if ('refused' in answer) throw new Error(answer.refused)
      return answer
    },
    async until(ms_max: number, isDone: () => Promise<boolean>) {
      const end_ms = stopwatch.elapsedMs() + ms_max
      while (!(await isDone())) {
        if (stopwatch.elapsedMs() >= end_ms) return
        await new Promise<void>((resolve) => timers.after(look_ms, resolve))
      }
    },
    close: () => lines.close(),
  }
}

/** Waits until a limit could be tried: the device holds what it is to have. */
export async function untilReady(inverter_id: number, place: Place, ms_max: number): Promise<void> {
  const { ask, until, close } = openTrials(place)
  try {
    await until(ms_max, async () => {
      return (await ask({ is: 'look', inverter_id })).view.refusal === null
    })
  } finally {
    close()
  }
}

export async function tryLimit(
  { device, inverter_id }: { device: string; inverter_id: number },
  needs: Needs,
): Promise<TriedLimit> {
  const { stopwatch, signal, asked_by, agree } = needs
  const { ask, close, until } = openTrials(needs)
  const look = () => ask({ is: 'look', inverter_id })
  try {
    let view: TrialView = (await look()).view
    await until(ready_ms_max, async () => {
      view = (await look()).view
      return view.refusal === null || signal.aborted
    })
    if (view.refusal !== null) return notTried(device, view.refusal)
    const limit_w = limitToTry(view)
    if (limit_w === null) return notTried(device, 'what it holds is too low for a lower limit')
    if (!(await agree(limit_w / 1000))) return notTried(device, 'nobody agreed to it')
    view = (await look()).view
    const { found_w } = await ask({ is: 'begin', inverter_id, limit_w, asked_by })
    return await measured({ device, inverter_id, limit_w, found_w: found_w!, before: view })
  } catch (error) {
    return notTried(device, (error as Error).message)
  } finally {
    close()
  }

  async function measured(trial: {
    device: string
    inverter_id: number
    limit_w: number
    found_w: number
    before: TrialView
  }): Promise<TriedLimit> {
    const { found_w, before } = trial
    const { rated_w, power_w: power_before_w, tolerance_w, latency_ms, ramp_ms } = before
    const power_most_w = trial.limit_w + power_part * rated_w
    const is_loaded = isLoaded(before)
    let begun_ms = stopwatch.elapsedMs()
    const since_s = () => Math.round((stopwatch.elapsedMs() - begun_ms) / 100) / 10
    const tried: TriedLimit = {
      ...notTried(trial.device, null),
      limit_kw: trial.limit_w / 1000,
      found_kw: found_w / 1000,
      power_before_kw: power_before_w === null ? null : power_before_w / 1000,
      declared_s: (latency_ms + ramp_ms) / 1000,
    }
    await until(lowered_ms_max, async () => {
      const { view, over } = await look()
      tried.over = over
      const { bound_w, power_w } = view
      if (bound_w !== null && bound_w <= trial.limit_w + tolerance_w)
        tried.read_back_s ??= since_s()
      if (is_loaded && power_w !== null && power_w <= power_most_w) {
        tried.power_s ??= since_s()
      }
      const is_seen = tried.read_back_s !== null && (!is_loaded || tried.power_s !== null)
      return is_seen || over !== null || signal.aborted
    })
    if (tried.over !== null) return tried
    begun_ms = stopwatch.elapsedMs()
    await ask({ is: 'give_back', inverter_id: trial.inverter_id })
    await until(return_ms_max, async () => {
      const { view, over } = await look()
      tried.over = over
      if (view.bound_w !== null && view.bound_w >= found_w - tolerance_w) {
        tried.returned_s ??= since_s()
      }
      return tried.returned_s !== null || over !== null
    })
    await ask({ is: 'end', inverter_id: trial.inverter_id })
    return tried
  }
}

export const notTried = (device: string, not_tried: string | null): TriedLimit => ({
  device,
  not_tried,
  limit_kw: null,
  found_kw: null,
  power_before_kw: null,
  read_back_s: null,
  power_s: null,
  returned_s: null,
  declared_s: null,
  over: null,
})

const isLoaded = ({ power_w, rated_w }: TrialView) =>
  power_w !== null && power_w >= loaded_part * rated_w

/** Half of what the device delivers, or of what it may; null: that is not below what it holds. */
function limitToTry(view: TrialView): number | null {
  const { power_w, rated_w, bound_w, min_limit_w, tolerance_w } = view
  const from_w = isLoaded(view) ? power_w! : Math.min(rated_w, bound_w ?? 0)
  const limit_w = Math.max(Math.floor(from_w / 2), Math.ceil(min_limit_w))
  return limit_w < (bound_w ?? 0) - tolerance_w ? limit_w : null
}

export function trialRows(tried: TriedLimit): TestRow[] {
  const { device, not_tried, over, read_back_s, power_s, returned_s } = tried
  if (not_tried !== null) return [without('not_judged', device, 'trial of a limit', not_tried)]
  const max = tried.declared_s! + allowance_s
  const timed = (test: string, measured: number | null, reason: string): TestRow => {
    if (measured === null) {
      const why = over === null ? reason : `control ended the trial: ${over}`
      return without(over === null ? 'failed' : 'not_judged', device, test, why)
    }
    const late = 'later than the declared latency and ramp allow'
    return judged({ device, test, measured, unit: 's', max, reason: late })
  }
  const { limit_kw, found_kw, power_before_kw } = tried
  const power_test = 'time until the power is within a tried limit'
  const is_power_low = power_before_kw === null || power_before_kw <= limit_kw!
  return [
    timed('time until a tried limit is read back', read_back_s, `${limit_kw} kW was not read back`),
    is_power_low
      ? without('not_judged', device, power_test, 'the power was within the limit before')
      : timed(power_test, power_s, `the power did not come down to ${limit_kw} kW`),
    timed(
      'time until the limit is as it was found',
      returned_s,
      `${found_kw} kW was not read back, which it had before`,
    ),
  ]
}
