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
  /** Measured power up to this is within the limit; null: the power before shows no limit. */
  power_most_kw: number | null
  /** From the request until the registers show the limit; null: they did not. */
  read_back_s: number | null
  /** Until the measured power is within the limit, once that is read back; null: it was not. */
  power_s: number | null
  /** From the end of the request until the registers show what was found; null: they did not. */
  returned_s: number | null
  /** Latency and ramp as declared. */
  declared_s: number | null
  /** The limit that control gives the device after the trial; null: not known. */
  target_kw: number | null
  /** Why the registers held another limit than was set; null: they did not. */
  not_as_set: string | null
  /** Why the trial ended early; null: it did not. */
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

interface Wait {
  ms_max?: number
  isOver?(): boolean
}

/** Waits until a limit could be tried: the device holds what it is to have. */
export async function untilReady(
  inverter_id: number,
  place: Place,
  wait: Wait = {},
): Promise<TrialView> {
  const trials = openTrials(place)
  try {
    return await readyView(trials, inverter_id, wait)
  } finally {
    trials.close()
  }
}

async function readyView(
  { ask, until }: ReturnType<typeof openTrials>,
  inverter_id: number,
  { ms_max = ready_ms_max, isOver = () => false }: Wait,
): Promise<TrialView> {
  const look = async () => (await ask({ is: 'look', inverter_id })).view
  let view = await look()
  await until(ms_max, async () => {
    view = await look()
    return view.refusal === null || isOver()
  })
  return view
}

export async function tryLimit(
  { device, inverter_id }: { device: string; inverter_id: number },
  needs: Needs,
): Promise<TriedLimit> {
  const { signal, agree } = needs
  try {
    const view = await untilReady(inverter_id, needs, { isOver: () => signal.aborted })
    if (view.refusal !== null) return notTried(device, view.refusal)
    const limit_w = limitToTry(view)
    if (limit_w === null) return notTried(device, 'what it holds is too low for a lower limit')
    // A person may take longer than an idle connection lasts: none is open meanwhile.
    if (!(await agree(limit_w / 1000))) return notTried(device, 'nobody agreed to it')
    if (signal.aborted) return notTried(device, 'the trial was ended')
    return await measured({ device, inverter_id, limit_w }, needs)
  } catch (error) {
    return notTried(device, (error as Error).message)
  }
}

/** @throws Error where control does not begin the trial */
async function measured(
  { device, inverter_id, limit_w }: { device: string; inverter_id: number; limit_w: number },
  needs: Needs,
): Promise<TriedLimit> {
  const { stopwatch, signal, asked_by } = needs
  const trials = openTrials(needs)
  const { ask, until } = trials
  const look = () => ask({ is: 'look', inverter_id })
  try {
    const before = await readyView(trials, inverter_id, { isOver: () => signal.aborted })
    const { power_w: power_before_w, tolerance_w, latency_ms, ramp_ms } = before
    const found_w = (await ask({ is: 'begin', inverter_id, limit_w, asked_by })).found_w!
    const power_most_w = powerWithin(before, limit_w)
    const tried: TriedLimit = {
      ...notTried(device, null),
      limit_kw: limit_w / 1000,
      found_kw: found_w / 1000,
      power_before_kw: inKw(power_before_w),
      power_most_kw: inKw(power_most_w),
      declared_s: (latency_ms + ramp_ms) / 1000,
    }
    await run().catch((error: Error) => {
      tried.over = error.message
    })
    return tried

    async function run(): Promise<void> {
      let since_ms = stopwatch.elapsedMs()
      const elapsed_s = () => Math.round((stopwatch.elapsedMs() - since_ms) / 100) / 10
      const isSeen = () =>
        tried.read_back_s !== null && (power_most_w === null || tried.power_s !== null)
      await until(lowered_ms_max, async () => {
        const { view, over } = await look()
        tried.over = over
        const { bound_w, power_w, not_as_set } = view
        if (bound_w !== null && bound_w <= limit_w + tolerance_w) tried.read_back_s ??= elapsed_s()
        // Power that is low before the registers hold the limit is low for another reason.
        const is_limited = tried.read_back_s !== null && power_most_w !== null
        if (is_limited && power_w !== null && power_w <= power_most_w) tried.power_s ??= elapsed_s()
        tried.not_as_set ??= not_as_set
        return isSeen() || over !== null || signal.aborted
      })
      if (tried.over !== null) return
      if (signal.aborted && !isSeen()) tried.over = 'it was interrupted'
      since_ms = stopwatch.elapsedMs()
      await ask({ is: 'give_back', inverter_id })
      await until(return_ms_max, async () => {
        const { view, over } = await look()
        tried.over ??= over
        tried.not_as_set ??= view.not_as_set
        tried.target_kw = inKw(view.target_w) ?? tried.target_kw
        if (view.bound_w !== null && view.bound_w >= found_w - tolerance_w) {
          tried.returned_s ??= elapsed_s()
        }
        return tried.returned_s !== null || over !== null
      })
      await ask({ is: 'end', inverter_id })
    }
  } finally {
    trials.close()
  }
}

const inKw = (w: number | null) => (w === null ? null : w / 1000)

export const notTried = (device: string, not_tried: string | null): TriedLimit => ({
  device,
  not_tried,
  limit_kw: null,
  found_kw: null,
  power_before_kw: null,
  power_most_kw: null,
  read_back_s: null,
  power_s: null,
  returned_s: null,
  declared_s: null,
  target_kw: null,
  not_as_set: null,
  over: null,
})

const isLoaded = ({ power_w, rated_w }: TrialView) =>
  power_w !== null && power_w >= loaded_part * rated_w

/** The most that is measured within the limit; null: the power before is no clear step above. */
function powerWithin(before: TrialView, limit_w: number): number | null {
  const error_w = power_part * before.rated_w
  return isLoaded(before) && before.power_w! >= limit_w + 2 * error_w ? limit_w + error_w : null
}

/** Half of what the device delivers, or of what it may; null: that is not below what it holds. */
function limitToTry(view: TrialView): number | null {
  const { power_w, rated_w, bound_w, min_limit_w, tolerance_w } = view
  const from_w = isLoaded(view) ? power_w! : Math.min(rated_w, bound_w ?? 0)
  // A command is rounded down by the tolerance first, and below the least limit it would be 0.
  const limit_w = Math.max(Math.floor(from_w / 2), Math.ceil(min_limit_w + tolerance_w))
  return limit_w < (bound_w ?? 0) - tolerance_w ? limit_w : null
}

export function trialRows(tried: TriedLimit): TestRow[] {
  const { device, not_tried, over, read_back_s, power_s, returned_s } = tried
  if (not_tried !== null) return [without('not_judged', device, 'trial of a limit', not_tried)]
  const max = tried.declared_s! + allowance_s
  const timed = (test: string, measured: number | null, reason: string): TestRow => {
    if (measured === null) {
      const why = over === null ? (tried.not_as_set ?? reason) : `the trial ended early: ${over}`
      return without(over === null ? 'failed' : 'not_judged', device, test, why)
    }
    const late = 'later than the declared latency and ramp allow'
    return judged({ device, test, measured, unit: 's', max, reason: late })
  }
  const { limit_kw, found_kw, target_kw, not_as_set } = tried
  const power_test = 'time until the power is within a tried limit'
  const return_test = 'time until the limit is as it was found'
  const is_left_less = returned_s === null && target_kw !== null && target_kw < found_kw!
  return [
    timed('time until a tried limit is read back', read_back_s, `${limit_kw} kW was not read back`),
    tried.power_most_kw === null
      ? without('not_judged', device, power_test, 'the power before was too low to show the limit')
      : timed(power_test, power_s, `the power did not come down to ${limit_kw} kW`),
    is_left_less && not_as_set === null
      ? without('not_judged', device, return_test, `control leaves it ${target_kw} kW by now`)
      : timed(return_test, returned_s, `${found_kw} kW was not read back, which it had before`),
  ]
}
