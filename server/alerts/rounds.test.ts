/** Rounds with all sources and listeners, as the job makes them, over a site that is served. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { silent } from '../../test/postgres.ts'
import { addReading, noon, servedSite } from '../fixtures/served-site.ts'
import { evaluateEverySite } from './rounds.ts'

test('no source fails on a site, and a fault of an inverter becomes an alert and ends', async (t) => {
  const { db, get, clock, close } = await servedSite()
  t.after(close)
  const errors: unknown[] = []
  const log = { ...silent, error: (fields: unknown) => void errors.push(fields) }
  const at = (minute: number) => new Date(noon.getTime() + 60_000 * minute)
  await db.execute(
    `insert into edges (site_id, edge_id, name, secret_sha256, connected_at, last_seen_at)
     values ('demo', 'abcdefabcdef', 'edge', '', $1, $1)`,
    [noon],
  )
  const minuteOf = async (minute: number, state: 'fault' | 'mppt') => {
    const measured_at = at(minute).toISOString()
    for (const inverter_id of [1, 2, 3]) {
      const values = { ac_power_kw: 50, energy_total_kwh: 1000 + minute }
      const faulted = inverter_id === 2 && state === 'fault'
      await addReading(db, 'inverter', {
        inverter_id,
        measured_at,
        ...values,
        ...(faulted ? { state, ac_power_kw: 0 } : { state: 'mppt' }),
      })
    }
    for (const logger_id of [1, 2]) {
      await addReading(db, 'logger', { logger_id, measured_at, ac_power_kw: 50 })
    }
    await db.execute('update edges set last_seen_at = $1, connected_at = $1', [at(minute)])
    clock.set(at(minute))
    await evaluateEverySite(
      { db, log },
      { now: () => at(minute), signal: new AbortController().signal },
    )
  }
  const told = async (status: string) =>
    (await get(`/alerts?status=${status}`)).body.data.map(
      ({ dedup_key }: { dedup_key: string }) => dedup_key,
    )

  await minuteOf(0, 'mppt')
  assert.deepEqual(errors, [])
  assert.deepEqual(await told('active'), [])
  for (const minute of [1, 2, 3]) await minuteOf(minute, 'fault')
  assert.deepEqual(errors, [])
  assert.deepEqual(await told('active'), ['inverter_fault:inverter:2'])
  for (let minute = 4; minute < 10; minute += 1) await minuteOf(minute, 'mppt')
  assert.deepEqual(await told('active'), [])
  assert.deepEqual(await told('resolved'), ['inverter_fault:inverter:2'])
  assert.deepEqual(errors, [])
})
