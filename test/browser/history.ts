/** The history of the demo, which it sums up by the hour for a while after its start. */
import type { StringHealth } from '@heliograph/sdk'
import { site_id } from './addresses.ts'
import { ask, visit, type Window } from './browser.ts'
import { nextAnswer } from './shown.ts'

/** For tests that wait for the history. */
export const history_ms_max = 300_000
const complete_pct = 90

async function isSummedUp(window: Window): Promise<boolean> {
  const { data } = await ask<{ data: StringHealth[] }>(
    window,
    `/v1/sites/${site_id}/efficiency/health-matrix`,
  )
  return data.length > 0 && data.every((string) => (string.completeness_pct ?? 0) > complete_pct)
}

/** Until the days of the last week are there. */
export async function untilHistoryIsThere(window: Window): Promise<void> {
  if (await isSummedUp(window)) return
  await visit(window.page, `/sites/${site_id}`)
  // The overview asks every five seconds.
  do await nextAnswer(window.page, '/overview')
  while (!(await isSummedUp(window)))
}
