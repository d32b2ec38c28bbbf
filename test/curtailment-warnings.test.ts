/** Warnings of a command: plants that are not raised again, limits that devices do not follow. */
import assert from 'node:assert/strict'
import test, { after, before, beforeEach } from 'node:test'
import type { LinkEvent } from '@heliograph/domain/link'
import type { Site } from '@heliograph/domain/site'
import { inventoryFrame, noon, park } from '../server/link/fixtures/plant.ts'
import {
  type CurtailmentPlant,
  curtailmentPlant,
  forgetCurtailment,
  hasGroup,
  isReleased,
  plant_1,
  reportOf,
  site_60,
  untilDesired,
} from './curtailment-plant.ts'

let plant: CurtailmentPlant
let seq = 100

before(async () => {
  plant = await curtailmentPlant()
})
after(() => plant.close())
beforeEach(() => forgetCurtailment(plant))

type Edge = Awaited<ReturnType<CurtailmentPlant['edge']>>

async function send(edge: Edge, kind: string, payload: unknown): Promise<void> {
  seq += 1
  edge.batch('live', [{ seq, kind, payload }])
  await edge.untilAcked(seq)
}

const tell = (edge: Edge, code: string, logger_id: number, is_rising: boolean) =>
  send(edge, 'events', [
    {
      at: noon + seq,
      source_kind: 'logger',
      source_id: String(logger_id),
      code,
      edge: is_rising ? 'rising' : 'falling',
      severity: 'info',
      message: 'as the edge says',
      details: null,
    } satisfies LinkEvent,
  ])

async function warningsOf(body: object): Promise<string[]> {
  const { body: group } = await plant.call('POST', '/curtailment/immediate', body)
  const warnings = group.warnings as string[]
  return warnings.filter((one) => !one.startsWith('overlaps_group'))
}

test('a command warns of each plant without a permit entry, as long as the edge reports it', async () => {
  const edge = await plant.edge()
  assert.deepEqual(await warningsOf(site_60), [])
  await tell(edge, 'no_permit_entry', 2, true)
  assert.deepEqual(await warningsOf(site_60), ['no_permit_entry:2'])
  assert.deepEqual(await warningsOf(plant_1), [])
  assert.deepEqual(await warningsOf({ ...plant_1, logger_id: 2 }), ['no_permit_entry:2'])
  await tell(edge, 'no_permit_entry', 1, true)
  assert.deepEqual(await warningsOf(site_60), ['no_permit_entry:1', 'no_permit_entry:2'])
  await tell(edge, 'no_permit_entry', 2, false)
  assert.deepEqual(await warningsOf(site_60), ['no_permit_entry:1'])
  await tell(edge, 'no_permit_entry', 1, false)
  assert.deepEqual(await warningsOf(site_60), [])
})

test('an edge of an earlier version reports it once an order counts', async () => {
  const edge = await plant.edge()
  await tell(edge, 'permit_missing', 1, true)
  assert.deepEqual(await warningsOf(plant_1), ['no_permit_entry:1'])
  await tell(edge, 'permit_missing', 1, false)
  assert.deepEqual(await warningsOf(plant_1), [])
})

test('the answer to a release says that the plant waits for its permit', async () => {
  const edge = await plant.edge()
  const { group_id } = (await plant.call('POST', '/curtailment/immediate', plant_1)).body
  const [row] = await untilDesired(edge, hasGroup(group_id))
  await plant.report(edge, reportOf(row!, noon, { applied_at: noon }))
  const releasing = plant.call('DELETE', `/curtailment/group/${group_id}`)
  const [released] = await untilDesired(edge, isReleased(group_id))
  const message = 'no grid permit of this plant is known: it needs an entry in the permit file'
  const refused = { failure_code: 'raise_refused', failure_message: message } as const
  await plant.report(edge, reportOf(released!, noon + 1, { applied_at: noon, ...refused }))
  const { body } = await releasing
  assert.deepEqual([body.status, body.pending_restore_count], ['releasing', 1])
  const [{ releasing_reason, failure_code, failure_message }] = body.schedules
  assert.deepEqual(
    [releasing_reason, failure_code, failure_message],
    ['raise_refused', 'raise_refused', message],
  )
})

/** Two inverters of the first plant are Sungrow, which stops below 30 % of its rating. */
const withSungrow = (site: Site): Site => ({
  ...site,
  loggers: site.loggers.map((logger) =>
    logger.logger_id === 1
      ? { ...logger, inverters: logger.inverters.map((one) => ({ ...one, driver: 'sungrow_sg' })) }
      : logger,
  ),
})

test('a command warns of a plant whose devices follow no limit that low', async () => {
  const edge = await plant.edge()
  const percent = (limit_value: number) =>
    warningsOf({ scope: 'site', limit_mode: 'percent', limit_value })
  assert.deepEqual(await percent(20), [])
  seq += 1
  edge.batch('live', [inventoryFrame(seq, withSungrow(park()))])
  await edge.untilAcked(seq)
  assert.deepEqual(await percent(20), ['below_lowest_limit:1'])
  assert.deepEqual(await percent(30), [])
  assert.deepEqual(await percent(29.9), ['below_lowest_limit:1'])
  seq += 1
  edge.batch('live', [inventoryFrame(seq, park())])
  await edge.untilAcked(seq)
})
