/** Markets, prices and rates by the command line, in a process of its own. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { fileURLToPath } from 'node:url'
import { testDatabase } from './postgres.ts'
import { program_environment } from './program-environment.ts'

const main = fileURLToPath(new URL('../cli/heliograph.ts', import.meta.url))

test('markets are followed, prices imported and rates set', async (t) => {
  const { url, drop } = await testDatabase()
  t.after(drop)
  const folder = mkdtempSync(join(tmpdir(), 'heliograph-cli-prices-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const run = (...args: string[]) => {
    const env = { ...program_environment, DATABASE_URL: url }
    const options = { cwd: folder, encoding: 'utf8', env } as const
    const { status, stdout, stderr } = spawnSync(process.execPath, [main, ...args], options)
    return { status, stdout, stderr }
  }

  const followed = run('markets', 'follow', 'BG', '--source', 'entsoe', '--from', '2026-01-01')
  assert.equal(followed.stdout, 'BG follows entsoe from 2026-01-01.\n', followed.stderr)
  const rate = run('rates', 'set', 'PLN', '4.25', '--from', '2026-01-01')
  assert.equal(rate.stdout, 'From 2026-01-01: 1 EUR = 4.25 PLN.\n')

  const file = join(folder, 'prices.csv')
  const rows = ['2026-06-21T10:00Z,2026-06-21T10:15Z,42.5,PLN', '2026-06-21T10:15Z,?,1,EUR']
  writeFileSync(file, ['start_at,end_at,price_per_mwh,currency', ...rows].join('\n'))
  const refused = run('prices', 'import', file, '--market', 'PL')
  assert.deepEqual([refused.status, refused.stdout], [4, ''])
  assert.match(refused.stderr, /line 3: end_at: '\?' is not a timestamp/)
  writeFileSync(file, ['start_at,end_at,price_per_mwh,currency', rows[0]].join('\n'))
  const imported = run('prices', 'import', file, '--market', 'PL', '--json')
  assert.equal(JSON.parse(imported.stdout).added_count, 1)

  const listed = run('markets', 'list')
  assert.match(listed.stdout, /^BG +entsoe +2026-01-01 +- +- +Bulgaria$/m)
  assert.match(run('rates', 'list').stdout, /^PLN +2026-01-01 +4\.25$/m)
  assert.equal(run('prices', 'import', file, '--market', 'XX').status, 3)
  assert.equal(run('markets', 'follow', 'BG').status, 2)
})
