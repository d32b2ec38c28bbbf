import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { chaos } from './chaos.ts'
import { loadSite } from './load-site.ts'
import { programsIn } from './programs.ts'

const seed = Number(process.env['CHAOS_SEED'] || 2026)
const seconds = Number(process.env['CHAOS_SECONDS'] || 30)

test('whatever is killed, every journaled reading is stored exactly once', async (t) => {
  t.diagnostic(`replay with CHAOS_SEED=${seed} CHAOS_SECONDS=${seconds}`)
  const dir = mkdtempSync(join(tmpdir(), 'heliograph-chaos-'))
  const programs = await programsIn(dir, loadSite)
  try {
    const outcome = await chaos(programs, { seed, seconds })
    t.diagnostic(`${outcome.journaled} readings, kills ${JSON.stringify(outcome.kills)}`)
    assert.deepEqual(
      { missing: outcome.missing, invented: outcome.invented, changed: outcome.changed },
      { missing: [], invented: [], changed: [] },
      `seed ${seed}\n${programs.lastWords('edge')}\n${programs.lastWords('server')}`,
    )
    assert.ok(outcome.journaled > 1000, `only ${outcome.journaled} readings`)
  } finally {
    await programs.endAll()
    rmSync(dir, { recursive: true, force: true })
  }
})
