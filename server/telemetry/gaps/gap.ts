/** A gap in the readings of a source, as the API returns it. */

import type { Static } from 'typebox'
import { exampleOf } from '../../http/example.ts'
import * as field from '../../http/fields.ts'
import { Named } from '../../http/params.ts'
import { type Stored, served } from '../../storage/records.ts'
import { causeRule, causes, statuses, statusRule } from './evidence.ts'
import { sourceTypes } from './sources.ts'

export type Gap = Static<typeof Gap>
export const Gap = Named('Gap', {
  gap_id: field.Int(
    'Stable while the gap grows, ends, shrinks and is back-filled. When back-filled readings ' +
      'split a gap, its parts are gaps with their own ids until they are filled.',
    { minimum: 1, examples: [41] },
  ),
  logger_id: field.CountOrNull(
    'The logger of the source; null for sources of the site as a whole.',
    2,
  ),
  source_type: field.OneOf(
    sourceTypes,
    'The kind of source without readings; `string` is a string combiner.',
    'inverter',
  ),
  source_id: field.Text('The id of the device; for a combiner its name.', '7'),
  start_at: field.At(
    'The last reading before the gap; after a night the time the source should have woken up.',
  ),
  end_at: field.AtOrNull(
    'The first reading after the gap, or the evening before it; null while the gap lasts.',
  ),
  duration_s: field.FromZero('From start to end, or until now.'),
  expected_sample_count: field.Count(
    'Readings expected at the usual interval while the source should be awake.',
  ),
  received_sample_count: field.Count('Expected readings that arrived later; 0 until back-filled.'),
  missing_sample_count: field.Count('Expected readings that did not arrive.'),
  completeness_pct: field.Percent('Received by expected readings, %.'),
  cause: field.OneOf(causes, causeRule),
  during_daylight: field.Flag('Whether the sun was above the horizon at any time during the gap.'),
  status: field.OneOf(statuses, statusRule),
  backfilled_at: field.AtOrNull('When the gap was completely back-filled; else null.'),
  backfilled_sample_count: field.Count(
    'Readings that arrived within the original extent of the gap; counted once the gap is ' +
      'back-filled or unrecoverable.',
  ),
  alert_id: field.IntOrNull(
    'The alert that reports the gap: the alert of its source, else of missing readings with ' +
      'the same cause, else of an offline logger or edge agent; null without one.',
    { minimum: 1 },
  ),
  detected_at: field.At('When the server detected the gap.'),
})

export const gapExample: Gap = exampleOf(Gap, {
  start_at: '2026-06-21T09:12:05.000Z',
  end_at: '2026-06-21T09:31:10.000Z',
  duration_s: 1145,
  expected_sample_count: 228,
  missing_sample_count: 228,
  during_daylight: true,
  status: 'unrecoverable',
  alert_id: 811,
  detected_at: '2026-06-21T09:15:00.000Z',
})

/** A gap as the table has it; the other fields are derived. */
export type StoredGap = Omit<
  Stored<Gap>,
  'duration_s' | 'missing_sample_count' | 'completeness_pct' | 'alert_id'
>

type GapRow = StoredGap & Pick<Gap, 'alert_id'>

export function gapRecord(row: GapRow, now: Date): Gap {
  const { start_at, end_at, expected_sample_count, received_sample_count } = row
  const duration_ms = (end_at ?? now).getTime() - start_at.getTime()
  return served(Gap, {
    ...row,
    duration_s: Math.max(0, duration_ms) / 1000,
    missing_sample_count: Math.max(0, expected_sample_count - received_sample_count),
    completeness_pct: Math.min(100, (100 * received_sample_count) / expected_sample_count),
  })
}
