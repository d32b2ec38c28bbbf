/** The switchings of relays as a file, all of them. */
import { type ExportItems, fetched } from '../../http/export-items.ts'
import { switchingRecord } from './relays.ts'
import { type SwitchingRow, switching } from './store.ts'

/** Newest first, as in a page; `node_id` null: of all nodes. */
export const switchingsExport = (site_id: string, node_id: string | null): ExportItems => ({
  async *items(queries) {
    const rows = fetched<SwitchingRow>(queries, newestFirst, [site_id, node_id])
    for await (const batch of rows) yield batch.map(switchingRecord)
  },
})

const newestFirst = `
  SELECT ${switching}
  WHERE e.site_id = $1 AND ($2::text IS NULL OR e.node_id = $2)
  ORDER BY e.at DESC, e.relay_event_id DESC`
