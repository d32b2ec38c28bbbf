/** Conflicts of decisions and revisions of schedules, with their remedies. */
import { ApiError } from '../../http/errors.ts'
import type { Breach } from '../planning/present.ts'

/** A status of a schedule other than `proposed`, or another reason. */
type State = string

interface ConflictFacts {
  breach?: Breach | undefined
  superseded_by?: number | null
  /** State of charge at the start of the day; for `infeasible`. */
  soc_start_pct?: number
  of_site_id?: string
  hour?: number
}

interface Advice {
  message: string
  remedy: string
}

const optimise = 'Optimise the unit for a day that is not over, and decide on that schedule.'
const replace = 'To change the day, optimise the unit again and approve that schedule.'

const byState: Readonly<Record<State, Advice>> = {
  approved: { message: 'The schedule is approved already.', remedy: replace },
  dispatching: { message: 'The schedule is approved and carried out.', remedy: replace },
  completed: { message: 'The schedule was carried out and its day is over.', remedy: optimise },
  failed: { message: 'The schedule is approved, and was not carried out.', remedy: optimise },
  rejected: { message: 'The schedule was rejected.', remedy: optimise },
  superseded: { message: 'Another schedule took its place.', remedy: optimise },
  expired: { message: 'The day of the schedule is over.', remedy: optimise },
  unit_retired: {
    message: 'The unit is out of service.',
    remedy: 'Put the unit back into site.yaml, or reject the schedule.',
  },
  hour_locked: {
    message: 'The hour has begun or is over.',
    remedy: 'Revise an hour that has not begun.',
  },
}

export function adviceOf(state: State, facts: ConflictFacts = {}): Advice {
  const { breach, superseded_by, of_site_id } = facts
  if (of_site_id !== undefined) {
    return {
      message: `The schedule belongs to the site ${of_site_id}.`,
      remedy: 'Send the request to that site.',
    }
  }
  if (breach && state === 'infeasible') {
    return {
      message:
        `The unit cannot follow hour ${breach.hour} from the state of charge that the day begins ` +
        `with (${breach.constraint}).`,
      remedy:
        'Optimise the unit for this day again, or revise hours of this schedule, and approve that.',
    }
  }
  if (breach) {
    return {
      message: `In hour ${breach.hour} the approved schedules would exceed export_plan_limit_kw.`,
      remedy:
        `Lower hour ${breach.hour} by ${breach.by_kw} kW here or at another unit of the ` +
        'connection, or optimise all units again.',
    }
  }
  const advice = byState[state] ?? { message: `The schedule is ${state}.`, remedy: optimise }
  return superseded_by
    ? { ...advice, remedy: `Decide on schedule ${superseded_by} instead.` }
    : advice
}

export function conflict(
  schedule_id: number,
  { state, allowed, ...facts }: ConflictFacts & { state: State; allowed: State },
): ApiError {
  const { breach, ...rest } = facts
  return new ApiError('conflict_state', {
    schedule_id,
    current_state: state,
    allowed: [allowed],
    ...breach,
    ...rest,
    ...adviceOf(state, facts),
  })
}
