/** Whatever is sent, and in whichever order: nothing is dispatched that nobody approved. */

import assert from 'node:assert/strict'
import test, { after, before } from 'node:test'
import { hourKey, mergeHour } from '@heliograph/domain/dispatch'
import { hour_ms } from '@heliograph/domain/durations'
import fc from 'fast-check'
import { addPrices } from '../server/batteries/fixtures/schedule-site.ts'
import type { Reply } from './curtailment-plant.ts'
import {
  type SchedulePlant,
  schedulePlant,
  today,
  toldHours,
  untilDispatch,
} from './schedule-plant.ts'

let plant: SchedulePlant

before(async () => {
  plant = await schedulePlant()
})
after(() => plant.close())

// biome-ignore lint/suspicious/noExplicitAny: the answer of any endpoint
type Answer = any
const get = async (id: number): Promise<Answer> =>
  (await plant.call('GET', `/bess/schedules/${id}`)).body

type Step =
  | { is: 'optimize'; bess_id: number; ahead: number; end_pct: number | null }
  | { is: 'optimize_all'; ahead: number }
  | { is: 'approve' | 'reject'; nth: number }
  | { is: 'approve_all'; ahead: number }
  | { is: 'revise'; nth: number; hour: number; share: number }
  | { is: 'wait'; minutes: number; unit1_pct: number }

const nth = fc.nat(7)
const ahead = fc.nat(1)
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    is: fc.constant('optimize' as const),
    bess_id: fc.constantFrom(1, 2),
    ahead,
    end_pct: fc.option(fc.constantFrom(20, 50, 90)),
  }),
  fc.record({ is: fc.constant('optimize_all' as const), ahead }),
  fc.record({ is: fc.constantFrom('approve' as const, 'reject' as const), nth }),
  fc.record({ is: fc.constant('approve_all' as const), ahead }),
  fc.record({
    is: fc.constant('revise' as const),
    nth,
    hour: fc.nat(23),
    share: fc.double({ min: -0.2, max: 1.2, noNaN: true }),
  }),
  fc.record({
    is: fc.constant('wait' as const),
    minutes: fc.constantFrom(7, 90, 400),
    unit1_pct: fc.constantFrom(12, 55, 93),
  }),
)

test('no sequence of requests dispatches what was not approved, or leaves a band', async () => {
  const property = fc.asyncProperty(
    fc.array(step, { minLength: 4, maxLength: 12 }),
    async (steps) => {
      await plant.forget()
      await addPrices(plant.db, { date: today, hours: 72 })
      const edge = await plant.edge()
      const seen = new Map<number, number>()
      const approved = new Set<number>()
      for (const one of steps) {
        const { status, body } = await take(one, [...seen.keys()])
        assert.ok(status < 500, JSON.stringify(body))
        for (const schedule of schedulesIn(body)) seen.set(schedule.schedule_id, 0)
        if (status === 200 && one.is === 'approve') approved.add(body.schedule_id)
        if (one.is === 'approve_all') for (const id of body.approved) approved.add(id)
        await assertSound(seen)
      }
      await assertTold(edge, approved)
      await plant.loseEdges()
    },
  )
  await fc.assert(property, { numRuns: 8, endOnFailure: true })
})

const schedulesIn = (body: Answer): Answer[] => body.data ?? (body.schedule_id ? [body] : [])

async function take(one: Step, ids: number[]): Promise<Pick<Reply, 'status' | 'body'>> {
  const day = Math.floor(plant.clock.now().getTime() / (24 * hour_ms))
  const dateOf = (days: number) => new Date((day + days) * 24 * hour_ms).toISOString().slice(0, 10)
  const pick = (at: number) => ids.at(-1 - at) ?? ids[0] ?? 1
  switch (one.is) {
    case 'optimize':
      return plant.call('POST', `/bess/${one.bess_id}/optimize`, {
        target_date: dateOf(one.ahead),
        ...(one.end_pct !== null && { soc_end_target_pct: one.end_pct }),
      })
    case 'optimize_all':
      return plant.call('POST', '/bess/optimize-all', { target_date: dateOf(one.ahead) })
    case 'approve':
      return plant.call('POST', `/bess/schedules/${pick(one.nth)}/approve`)
    case 'reject':
      return plant.call('POST', `/bess/schedules/${pick(one.nth)}/reject`)
    case 'approve_all':
      return plant.call('POST', `/bess/schedules/approve-all?target_date=${dateOf(one.ahead)}`)
    case 'revise': {
      const schedule = await get(pick(one.nth))
      if (!schedule.hours) return { status: 404, body: {} }
      const { min_power_kw: low, max_power_kw: high } = schedule.hours[one.hour]
      const path = `/bess/schedules/${pick(one.nth)}/hours/${one.hour}`
      return plant.put(path, { power_kw: low + one.share * (high - low) }, {})
    }
    case 'wait':
      plant.clock.pass(one.minutes * 60_000)
      await plant.measure({ unit1_pct: one.unit1_pct })
      return { status: 200, body: {} }
  }
}

/** Of every schedule that there is. */
async function assertSound(versions: Map<number, number>): Promise<void> {
  const inForce = new Set<string>()
  for (const [id, version] of versions) {
    const schedule = await get(id)
    assert.ok(schedule.version >= version)
    versions.set(id, schedule.version)
    const key = `${schedule.bess_id} ${schedule.target_date}`
    if (['approved', 'dispatching', 'completed', 'failed'].includes(schedule.status)) {
      assert.ok(!inForce.has(key), `two are in force for ${key}`)
      inForce.add(key)
    }
    const { soc_min_pct, soc_max_pct, soc_start_pct } = schedule.inputs
    for (const hour of schedule.hours) {
      assert.ok(hour.min_power_kw <= hour.power_kw && hour.power_kw <= hour.max_power_kw)
      if (hour.soc_end_pct === null || hour.locked) continue
      // What was approved of the day before since may keep it from being followed: then it says so.
      if (schedule.constraint_violations.length > 0) continue
      assert.ok(hour.soc_end_pct >= Math.min(soc_min_pct, soc_start_pct) - 2e-3)
      assert.ok(hour.soc_end_pct <= Math.max(soc_max_pct, soc_start_pct) + 2e-3)
    }
  }
}

/** The edge hears in the end of what is in force, and never of what nobody approved. */
async function assertTold(
  edge: Awaited<ReturnType<SchedulePlant['edge']>>,
  approved: ReadonlySet<number>,
): Promise<void> {
  const now = plant.clock.now().getTime()
  const rows = await plant.db.query<{ schedule_id: number; target_date: string }>(
    `select schedule_id::int as schedule_id, target_date from battery_schedules
     where state = 'approved'`,
  )
  const inForce = rows.filter(({ target_date }) => Date.parse(target_date) + 24 * hour_ms > now)
  for (const { schedule_id } of inForce) {
    await untilDispatch(edge, (hours) => hours.some((hour) => hour.schedule_id === schedule_id))
  }
  const told = toldHours(edge)
  for (const { schedule_id } of told)
    assert.ok(approved.has(schedule_id), `${schedule_id} was told`)
  const merged = Map.groupBy(told, hourKey)
  for (const same of merged.values()) {
    const [first, ...rest] = same
    const end = rest.reduce(mergeHour, first!)
    assert.ok(
      same.every(({ power_kw }) => power_kw === end.power_kw),
      'an hour that was told changed',
    )
  }
}
