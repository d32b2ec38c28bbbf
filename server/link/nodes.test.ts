/** Sensor nodes by way of the link: inventory, readings, relays that were switched. */

import assert from 'node:assert/strict'
import test from 'node:test'
import { day_ms } from '@heliograph/domain/durations'
import type { Frame } from '@heliograph/domain/link'
import type { Node } from '@heliograph/domain/node'
import { testDatabase } from '../../test/postgres.ts'
import {
  edge_id,
  foundSite,
  inventoryFrame,
  noon,
  park,
  readingsFrame,
  site_id,
} from './fixtures/plant.ts'
import { ingestInto } from './ingest.ts'

const station: Node = {
  node_id: 'ts-1',
  node_number: 7,
  name: 'Station',
  type: 'transformer_station',
  channels: [
    { channel: 'oil', kind: 'temperature', label: 'Oil' },
    { channel: 'fan', kind: 'relay', label: 'Fan' },
  ],
}

const relayFrame = (seq: number, at: number, details: object): Frame => ({
  seq,
  kind: 'events',
  payload: [
    {
      at,
      source_kind: 'node',
      source_id: 'ts-1',
      code: 'relay:fan',
      edge: 'once',
      severity: 'info',
      message: 'switched',
      details,
    },
  ],
})

const on = { channel: 'fan', from: false, to: true, cause: 'automation', reason: 'warm' }

test('nodes', async (t) => {
  const { db, drop } = await testDatabase()
  t.after(drop)
  await foundSite(db)
  const { ingest } = ingestInto(db)
  const send = (...frames: Frame[]) =>
    ingest({ site_id, edge_id, epoch: 'a', lane: 'live', frames, received_at: noon })

  await t.test('are announced, and retired when they are gone', async () => {
    const broker = { url: 'mqtt://10.0.0.5:1883' }
    await send(inventoryFrame(1, { ...park(), mqtt: broker, nodes: [station] }))
    const [row] = await db.query('select node_number, report_s, channels, retired_at from nodes')
    assert.deepEqual(row, {
      node_number: 7,
      report_s: 60,
      channels: station.channels,
      retired_at: null,
    })
    await send(inventoryFrame(2, park()))
    const gone = await db.query('select from nodes where retired_at is not null')
    assert.equal(gone.length, 1)
  })

  await t.test('a reading counts once, and one that comes late is no latest', async () => {
    const reading = (at: number, oil: number) => ({
      node_number: 7,
      measured_at: at,
      channel_values: [oil, null],
    })
    await send(readingsFrame(3, 'node', [reading(noon, 50)]))
    const { repeated_rows } = await send(
      readingsFrame(4, 'node', [reading(noon, 50), reading(noon - day_ms, 20)]),
    )
    assert.equal(repeated_rows, 1)
    const [latest] = await db.query<{ channel_values: unknown }>('select * from node_latest')
    assert.deepEqual(latest?.channel_values, [50, null])
    assert.equal((await db.query('select from node_readings')).length, 2)
  })

  await t.test('a relay that was switched is kept once, however often it is told', async () => {
    await send(relayFrame(5, noon, on))
    await send(
      relayFrame(5, noon, on),
      relayFrame(6, noon, on),
      relayFrame(7, noon + 1, {
        ...on,
        from: null,
        to: false,
        cause: 'unknown',
        reason: null,
      }),
    )
    const rows = await db.query(
      'select node_id, channel, from_state, to_state, cause, reason from relay_events order by at',
    )
    assert.deepEqual(rows, [
      {
        node_id: 'ts-1',
        channel: 'fan',
        from_state: false,
        to_state: true,
        cause: 'automation',
        reason: 'warm',
      },
      {
        node_id: 'ts-1',
        channel: 'fan',
        from_state: null,
        to_state: false,
        cause: 'unknown',
        reason: null,
      },
    ])
  })

  await t.test('a switching that says nothing sensible is set aside, with its reason', async () => {
    for (const [index, details] of [
      { ...on, cause: 'magic' },
      { ...on, channel: 'pump' },
    ].entries()) {
      const { refused_frames } = await send(relayFrame(20 + index, noon + 5, details))
      assert.equal(refused_frames, 1)
    }
    assert.equal((await db.query('select from relay_events')).length, 2)
    const [rejected] = await db.query<{ reason: string }>('select reason from rejected_frames')
    assert.match(rejected!.reason, /event 0: details/)
  })
})
