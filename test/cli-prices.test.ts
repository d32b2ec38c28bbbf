/** Markets, prices and rates by the command line. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { heliograph } from './command-line.ts'
import { testDatabase } from './postgres.ts'

test('markets are followed, prices imported and rates set', async (t) => {
  const { url, drop } = await testDatabase()
  t.after(drop)
  const folder = mkdtempSync(join(tmpdir(), 'heliograph-cli-prices-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const run = (...words: string[]) => heliograph({ DATABASE_URL: url }, ...words)

  const followed = await run(
    'markets',
    'follow',
    'BG',
    '--source',
    'entsoe',
    '--from',
    '2026-01-01',
  )
  assert.equal(followed.out, 'BG follows entsoe from 2026-01-01.\n', followed.notes)
  const rate = await run('rates', 'set', 'PLN', '4.25', '--from', '2026-01-01')
  assert.equal(rate.out, 'From 2026-01-01: 1 EUR = 4.25 PLN.\n')

  const file = join(folder, 'prices.csv')
  const rows = ['2026-06-21T10:00Z,2026-06-21T10:15Z,42.5,PLN', '2026-06-21T10:15Z,?,1,EUR']
  writeFileSync(file, ['start_at,end_at,price_per_mwh,currency', ...rows].join('\n'))
  const refused = await run('prices', 'import', file, '--market', 'PL')
  assert.deepEqual([refused.code, refused.out], [4, ''])
  assert.match(refused.notes, /line 3: end_at: '\?' is not a timestamp/)
  writeFileSync(file, ['start_at,end_at,price_per_mwh,currency', rows[0]].join('\n'))
  const imported = await run('prices', 'import', file, '--market', 'PL', '--json')
  assert.equal(JSON.parse(imported.out).added_count, 1)

  const listed = await run('markets', 'list')
  assert.match(listed.out, /^BG +entsoe +2026-01-01 +- +- +Bulgaria$/m)
  assert.match((await run('rates', 'list')).out, /^PLN +2026-01-01 +4\.25$/m)
  assert.equal((await run('prices', 'import', file, '--market', 'XX')).code, 3)
  assert.equal((await run('markets', 'follow', 'BG')).code, 2)
})
