/** Time and quality of live values. */

import { type Quality, qualities } from '@heliograph/domain/readings'
import { type Static, Type } from 'typebox'
import * as field from '../http/fields.ts'

export { At } from '../http/fields.ts'

/** A reading is stale after three polls of its device, and not before 30 s of transmission. */
export const stale_polls = 3
export const stale_s_min = 30

/** A logger without data for this long while its devices are awake is offline. */
export const offline_s = 15 * 60
/** An edge agent last seen within this time is connected. */
export const edge_silence_s_max = 60

export const liveQualities = [...qualities, 'stale', 'missing'] as const

type Frame = Static<typeof Frame>
const Frame = Type.Object({
  measured_at: field.AtOrNull(
    'When the edge measured the values; null if nothing was ever measured.',
    '2026-06-21T10:00:05.000Z',
  ),
  received_at: field.AtOrNull('When the server received the values.', '2026-06-21T10:00:05.120Z'),
  age_s: field.FromZeroOrNull('Seconds since `measured_at`.', 2.4),
  quality: field.OneOf(
    liveQualities,
    '`good`; `suspect`: measured but possibly wrong; `estimated`; `stale`: the last known ' +
      `values, older than ${stale_polls} polls of the device and ${stale_s_min} s; ` +
      '`missing`: nothing was ever measured.',
  ),
})

/** The properties that every live object carries. */
export const frame = Frame.properties

/** A row of a `*_latest` table. */
export interface Measurement {
  measured_at: Date | null
  received_at: Date | null
  quality: Quality | null
}

export function frameOf(
  { measured_at, received_at, quality }: Measurement,
  poll_s: number,
  now: Date,
): Frame {
  if (measured_at === null) {
    return { measured_at: null, received_at: null, age_s: null, quality: 'missing' }
  }
  return {
    measured_at: measured_at.toISOString(),
    received_at: iso(received_at),
    age_s: ageInSeconds(measured_at, now),
    quality: isStale(measured_at, poll_s, now) ? 'stale' : (quality ?? 'suspect'),
  }
}

/** The age above which a reading is stale, by the interval of its polls. */
export const staleAfterSeconds = (poll_s: number) => Math.max(stale_polls * poll_s, stale_s_min)

export function isStale(measured_at: Date | null, poll_s: number, now: Date): boolean {
  if (measured_at === null) return true
  return ageInSeconds(measured_at, now) > staleAfterSeconds(poll_s)
}

/** 0 for instants in the future, from a fast clock of the edge. */
export function ageInSeconds(instant: Date, now: Date): number {
  return Math.max(0, now.getTime() - instant.getTime()) / 1000
}

export const iso = (instant: Date | null) => instant?.toISOString() ?? null

/** The properties that every device of the inventory carries. */
export const inventoried = {
  created_at: field.At('When the device was first announced.', '2026-01-05T08:00:00.000Z'),
  updated_at: field.At('When its inventory last changed.', '2026-05-11T14:30:00.000Z'),
  retired_at: field.AtOrNull(
    'When it was removed from the inventory; excluded from live sums since then.',
  ),
}
