import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { openRunMark, startedEvent } from './run-mark.ts'

const source = { source_kind: 'edge', source_id: 'small' } as const

test('a start knows whether the run before was stopped, killed, or went down', async (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'heliograph-run-'))
  t.after(() => rmSync(dir, { recursive: true, force: true }))
  const path = join(dir, 'run.json')
  const warnings: string[] = []
  const log = { warn: (_: unknown, text: string) => void warnings.push(text) }
  const start = (boot_id: string | null, file = path) =>
    openRunMark({ path: file, log: log as never, readBootId: async () => boot_id })

  const first = await start('boot 1')
  assert.deepEqual(first.last, { unclean: null, rebooted: null, stopped_at: null })
  await first.stopped(1000)
  const second = await start('boot 1')
  assert.deepEqual(second.last, { unclean: false, rebooted: false, stopped_at: 1000 })
  const after_kill = await start('boot 1')
  assert.deepEqual(after_kill.last, { unclean: true, rebooted: false, stopped_at: null })
  const after_power = await start('boot 2')
  assert.deepEqual(after_power.last, { unclean: true, rebooted: true, stopped_at: null })
  await after_power.stopped(2000)
  const after_reboot = await start('boot 3')
  assert.deepEqual(after_reboot.last, { unclean: false, rebooted: true, stopped_at: 2000 })
  assert.equal((await start(null)).last.rebooted, null)

  writeFileSync(path, 'not json')
  assert.equal((await start('boot 3')).last.unclean, null)
  assert.deepEqual(warnings, [])
  await start('boot 3', join(dir, 'nowhere', 'run.json'))
  assert.deepEqual(warnings, ['the next start may be wrong on how this run ended'])
})

test('the event of a start says since when the agent had not run', () => {
  const told = (last: Parameters<typeof startedEvent>[0], newest_at: number | null = 900) => {
    const { code, edge, severity, message, details } = startedEvent(last, source, {
      at: 5000,
      newest_at,
    })
    return [code, edge, severity, message, details!['down_from_at']]
  }
  assert.deepEqual(told({ unclean: false, rebooted: false, stopped_at: 1000 }), [
    'agent_started',
    'once',
    'info',
    'The agent started: it had been stopped',
    1000,
  ])
  assert.deepEqual(told({ unclean: true, rebooted: true, stopped_at: null }), [
    'agent_started',
    'once',
    'warning',
    'The agent started: its machine had gone down',
    900,
  ])
  assert.equal(
    told({ unclean: true, rebooted: false, stopped_at: null })[3],
    'The agent started: it had been killed',
  )
  assert.deepEqual(told({ unclean: null, rebooted: null, stopped_at: null }, null).slice(3), [
    'The agent started: for the first time',
    null,
  ])
})
