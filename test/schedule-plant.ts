/** A server and its edge link with battery units that can be planned, at an instant tests set. */
import type { DispatchHour } from '@heliograph/domain/dispatch'
import { addBatteries, bessValues, unit2Values } from '../server/batteries/fixtures/battery-site.ts'
import { assignMarket } from '../server/batteries/fixtures/schedule-site.ts'
import { addReading } from '../server/fixtures/served-site.ts'
import type { EdgeClient } from '../server/link/fixtures/edge-client.ts'
import { noon, site_id } from '../server/link/fixtures/plant.ts'
import { type CurtailmentPlant, curtailmentPlant, type Reply } from './curtailment-plant.ts'

export { noon, site_id }

export const today = '2026-06-21'
export const tomorrow = '2026-06-22'
export const day_after = '2026-06-23'
export const market_code = 'DE-LU'

export interface SchedulePlant extends CurtailmentPlant {
  /** Both units measure now how charged they are; 60 % and 40 % unless told. */
  measure(soc?: { unit1_pct?: number; unit2_pct?: number }): Promise<void>
  /** As if nothing had ever been planned, at noon, both units measured, no price known. */
  forget(): Promise<void>
  /** Of the site file; null for none. */
  limitExport(export_plan_limit_kw: number | null): Promise<void>
  put(
    path: string,
    body: unknown,
    headers: Record<string, string>,
  ): Promise<Omit<Reply, 'text' | 'headers'>>
}

export async function schedulePlant(): Promise<SchedulePlant> {
  const plant = await curtailmentPlant()
  const { db, clock } = plant
  await db.query('create table bess_readings_any partition of bess_readings default')
  await addBatteries(db, { site_id })
  await assignMarket(db, { site_id, market_code })
  let measured_ms = 0

  async function measure({ unit1_pct = 60, unit2_pct = 40 } = {}) {
    // The newest counts, and there is one at an instant.
    measured_ms = Math.max(clock.now().getTime(), measured_ms + 1)
    const at = { site_id, measured_at: new Date(measured_ms).toISOString() }
    const [one, two] = [bessValues({ soc_pct: unit1_pct }), unit2Values()]
    await addReading(db, 'bess', { bess_id: 1, ...one, ...at })
    await addReading(db, 'bess', { bess_id: 2, ...two, soc_pct: unit2_pct, ...at })
  }

  async function limitExport(export_plan_limit_kw: number | null) {
    await db.execute(
      `update sites set inventory =
         jsonb_set(inventory, '{export_plan_limit_kw}', coalesce(to_jsonb($2::float8), 'null'))
       where site_id = $1`,
      [site_id, export_plan_limit_kw],
    )
  }

  return {
    ...plant,
    measure,
    limitExport,
    async forget() {
      clock.set(noon)
      measured_ms = 0
      await db.query(
        `delete from battery_schedules; delete from bess_readings; delete from bess_latest;
         delete from market_prices; delete from price_runs; delete from price_models;
         delete from forecast_runs; delete from idempotency_records;
         update batteries set retired_at = null, power_curve = null;
         update desired_versions set version = version + 1`,
      )
      await limitExport(null)
      await measure()
    },
    async put(path, body, headers) {
      const response = await fetch(`http://127.0.0.1:${plant.port}/v1/sites/${site_id}${path}`, {
        method: 'PUT',
        headers: {
          authorization: plant.authorization,
          'content-type': 'application/json',
          ...headers,
        },
        body: JSON.stringify(body),
      })
      return { status: response.status, body: await response.json() }
    },
  }
}

/** Every hour that an edge was ever told. */
export const toldHours = (edge: EdgeClient): DispatchHour[] =>
  edge.messages.flatMap((message) => (message.type === 'desired' ? (message.dispatch ?? []) : []))

/** The dispatch of the newest message in which it is as wanted. */
export const untilDispatch = (edge: EdgeClient, wanted: (hours: DispatchHour[]) => boolean) =>
  edge
    .until('desired', ({ dispatch = [] }) => wanted(dispatch))
    .then(({ dispatch = [] }) => dispatch)
