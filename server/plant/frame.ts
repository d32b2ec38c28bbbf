/** When a live value was measured, and how far to trust it now. */
import { type Quality, qualities } from '@heliograph/domain/readings'
import { type Static, Type } from 'typebox'
import { Nullable } from '../http/params.ts'

/** A reading is stale after three polls of its device, but not before the link could bring it. */
export const stale_polls = 3
export const stale_s_min = 30

/** A logger that has delivered nothing for this long, while its devices are awake, is offline. */
export const offline_s = 15 * 60
/** An edge agent that was heard of within them is connected. */
export const edge_silence_s_max = 60

export const At = (description: string) => Type.String({ format: 'date-time', description })

export const liveQualities = [...qualities, 'stale', 'missing'] as const

type Frame = Static<typeof Frame>
const Frame = Type.Object({
  measured_at: Nullable(At('When the edge measured this; null if nothing was ever measured.')),
  received_at: Nullable(At('When the server received it.')),
  age_s: Nullable(Type.Number({ minimum: 0, description: 'Seconds since it was measured.' })),
  quality: Type.Enum([...liveQualities], {
    description:
      '`good`; `suspect`: measured, but it may not be right; `estimated`; `stale`: older than ' +
      `${stale_polls} polls of the device and than ${stale_s_min} s, the values are the last ` +
      'known; `missing`: nothing was ever measured.',
  }),
})

/** The properties that every live object carries. */
export const frame = Frame.properties

/** Of a row of a `*_latest` table. */
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

export function isStale(measured_at: Date | null, poll_s: number, now: Date): boolean {
  if (measured_at === null) return true
  return ageInSeconds(measured_at, now) > Math.max(stale_polls * poll_s, stale_s_min)
}

/** 0 for what a fast clock at the edge dated into the future. */
export function ageInSeconds(instant: Date, now: Date): number {
  return Math.max(0, now.getTime() - instant.getTime()) / 1000
}

export const iso = (instant: Date | null) => instant?.toISOString() ?? null

/** The properties that every device of the inventory carries. */
export const inventoried = {
  created_at: At('When the device was first announced.'),
  updated_at: At('When its inventory last changed.'),
  retired_at: Nullable(
    At('When it was taken out of the inventory; it stays readable and counts in no live sum.'),
  ),
}
