import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { control } from './control.ts'
import { missing } from './inverter-peer.ts'

const seed = Number(process.env['CONTROL_SEED'] || 2026)
const seconds = Number(process.env['CONTROL_SECONDS'] || 30)

test('whatever is asked for and killed, no write exceeds the permit', {
  skip: missing,
}, async (t) => {
  t.diagnostic(`replay with CONTROL_SEED=${seed} CONTROL_SECONDS=${seconds}`)
  const dir = mkdtempSync(join(tmpdir(), 'heliograph-control-'))
  try {
    const { faults, write_log, ...counts } = await control(dir, { seed, seconds })
    t.diagnostic(JSON.stringify(counts))
    t.diagnostic(`Writes by the log of each device:\n${write_log}`)
    assert.deepEqual(faults, [], `seed ${seed}`)
    const { kills, rows_applied, writes } = counts
    assert.ok(kills.server > 0 && kills.between_writes > 0)
    assert.ok(rows_applied >= 10, `only ${rows_applied} rows were applied`)
    assert.ok(writes >= 50, `only ${writes} writes`)
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
})
