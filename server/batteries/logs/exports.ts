/** The logs of a battery as files, all of them, in the order of the JSON answers. */
import { type ExportItem, type ExportItems, fetched } from '../../http/export-items.ts'
import type { SeriesWindow } from '../../http/time-windows.ts'
import { alarmTransition, controlEntry, dispatchEntry } from './records.ts'
import {
  type AlarmEvent,
  alarmEvents,
  type DispatchRow,
  dispatchesIn,
  type NoteRow,
  notes,
  type UnitAsked,
} from './store.ts'

const exported = <Row>(
  statement: string,
  values: readonly unknown[],
  recordOf: (row: Row) => ExportItem,
): ExportItems => ({
  async *items(queries) {
    for await (const rows of fetched<Row>(queries, statement, values)) yield rows.map(recordOf)
  },
})

/** Of one code, or null for all. */
export const alarmEventsExport = ({ site_id, bess_id }: UnitAsked, code: string | null) =>
  exported<AlarmEvent>(alarmEvents('asc'), [site_id, String(bess_id), code], alarmTransition)

export const dispatchesExport = (
  { site_id, bess_id }: UnitAsked,
  { start, end }: SeriesWindow,
): ExportItems =>
  exported<DispatchRow>(dispatchesIn('asc', null), [site_id, bess_id, start, end], dispatchEntry)

/** Of one tier, or null for all. */
export const notesExport = ({ site_id, bess_id }: UnitAsked, tier: string | null) =>
  exported<NoteRow>(notes('asc'), [site_id, bess_id, tier], controlEntry)
