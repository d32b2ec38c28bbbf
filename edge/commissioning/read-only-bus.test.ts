import assert from 'node:assert/strict'
import test from 'node:test'
import { systemStopwatch, systemTimers } from '@heliograph/domain/clock'
import { freePort, serveFleet, sunspecUnit } from './fixtures/fleet.ts'
import { createReadOnlyBus } from './read-only-bus.ts'

test('a bus of a scan refuses writes, and measures answers and refusals of devices', async (t) => {
  const port = await freePort()
  const host = '127.7.6.1'
  const fleet = await serveFleet(t, [
    { host, port, units: { 1: sunspecUnit('SN-1') }, others: 'nobody' },
  ])
  const bus = createReadOnlyBus(
    { connection_id: 'one', protocol: 'modbus_tcp', host, port },
    {
      timers: systemTimers,
      now_ms: () => systemStopwatch.elapsedMs(),
      timeout_ms: 10_000,
      ends_at_ms: Number.POSITIVE_INFINITY,
    },
  )
  t.after(() => bus.close())
  await assert.rejects(bus.writeRegisters(1, 40_000, [1]), /only read/)
  await assert.rejects(bus.readHoldingRegisters(2, 40_000, 2), /exception 11/)
  assert.equal(bus.answered_ms(), null, 'a gateway without the device')
  await assert.rejects(bus.readHoldingRegisters(1, 7, 1), /exception 2/)
  assert.ok(bus.answered_ms(), 'a device that refuses an address')
  assert.deepEqual([...(await bus.readHoldingRegisters(1, 40_000, 2))], [0x5375, 0x6e53])
  assert.deepEqual([...fleet.asked.keys()], [3])
})
