import assert from 'node:assert/strict'
import { glob, readFile } from 'node:fs/promises'
import path from 'node:path'
import test from 'node:test'
import { alertOf, eventAlerts, type SourceEvent } from './event-alerts.ts'

const root = path.join(import.meta.dirname, '../../..')
const familyOf = (code: string) => code.split(':', 1)[0]!
const families = Object.keys(eventAlerts)

const event = (changes: Partial<SourceEvent> = {}): SourceEvent => ({
  source_kind: 'inverter',
  source_id: '7',
  code: 'rating_differs',
  severity: 'warning',
  message: 'inverter 7 is rated otherwise',
  at: new Date(0),
  ...changes,
})

test('every event that the documents list is an alert, or it is said why it is none', async () => {
  const text = await readFile(path.join(root, 'docs/operating.md'), 'utf8')
  const table = text.split('\n## Events\n')[1]!.split('\n## ')[0]!
  const cells = [...table.matchAll(/^\| (`[^|]+) \|/gm)].map(([, cell]) => cell!)
  const codes = cells.flatMap((cell) =>
    [...cell.matchAll(/`([a-z_]+)[^`]*`/g)].map(([, code]) => code!),
  )
  assert.ok(codes.length > 40, `${codes.length} codes were found`)
  assert.deepEqual(
    codes.filter((code) => !families.includes(code)),
    [],
  )
})

test('so is every event that the edge has in its code', async () => {
  const found = new Set<string>()
  for await (const file of glob('{edge,server/link}/**/*.ts', { cwd: root })) {
    if (/\.test\.ts$|fixtures|simulation/.test(file)) continue
    const text = await readFile(path.join(root, file), 'utf8')
    for (const [, code] of text.matchAll(/code: ['`]([a-z_]+)[^'`]*['`],\s+(?:edge|severity)/g)) {
      found.add(code!)
    }
  }
  assert.ok(found.has('device_offline') && found.has('frames_missing'))
  // Of the journal's notices, which are named by their type.
  found.delete('journal_')
  assert.deepEqual(
    [...found].filter((code) => !families.includes(familyOf(code))),
    [],
  )
})

test('so is every event that the server records', async () => {
  const found = new Map<string, string>()
  let calls = 0
  for await (const file of glob('server/**/*.ts', { cwd: root })) {
    if (/\.test\.ts$|fixtures|simulation|^server\/storage\/events\.ts$/.test(file)) continue
    const text = await readFile(path.join(root, file), 'utf8')
    const count = [...text.matchAll(/await recordEvent\(/g)].length
    if (count === 0) continue
    calls += count
    const codes = [...text.matchAll(/\bcode(?::| =) ['`]([a-z_]+)[^'`]*['`]/g)].map(
      ([, code]) => code!,
    )
    assert.ok(codes.length > 0, `no code is found of what ${file} records`)
    for (const code of codes) found.set(code, file)
  }
  assert.ok(calls >= 8, `${calls} calls were found`)
  assert.ok(found.has('safe_mode') && found.has('work_approval'))
  assert.deepEqual(
    [...found].filter(([code]) => !families.includes(familyOf(code))),
    [],
  )
})

const cases: [Partial<SourceEvent>, ReturnType<typeof alertOf>][] = [
  [{ code: 'device_offline' }, null],
  [{ code: 'relay:k1' }, null],
  [{ code: 'work_approval', source_kind: 'site', source_id: 'demo' }, null],
  [
    {},
    {
      code: 'edge_condition',
      part: 'rating_differs',
      severity: 'warning',
      message: 'Inverter 7 is rated otherwise.',
    },
  ],
  [
    { code: 'nonsense_value:wh', severity: 'minor', message: 'WH makes no sense' },
    {
      code: 'edge_condition',
      part: 'nonsense_value:wh',
      severity: 'warning',
      message: 'WH makes no sense.',
    },
  ],
  [
    { code: 'of_a_newer_edge', severity: 'critical', message: 'it burns!' },
    {
      code: 'edge_condition',
      part: 'of_a_newer_edge',
      severity: 'critical',
      message: 'It burns!',
    },
  ],
  [
    { code: 'toString', message: 'x' },
    { code: 'edge_condition', part: 'toString', severity: 'warning', message: 'X.' },
  ],
  [
    { code: 'permit_missing', source_kind: 'logger', source_id: '3', message: 'at 512 kW' },
    {
      code: 'permit_missing',
      part: null,
      severity: null,
      message: 'There is no permit for plant 3: no limit of it is raised.',
    },
  ],
  [
    { code: 'permit_exceeded', source_kind: 'logger', message: 'measured at plant 3: 12 kW more' },
    {
      code: 'permit_exceeded',
      part: null,
      severity: null,
      message: 'Measured at plant 3: 12 kW more.',
    },
  ],
  [
    { code: 'device_below_limit', message: 'of an edge of 0.1.0' },
    {
      code: 'limit_not_as_set',
      part: 'device_below_limit',
      severity: null,
      message: 'Of an edge of 0.1.0.',
    },
  ],
  [
    { code: 'journal_dropped', source_kind: 'edge', severity: 'critical', message: 'lost' },
    {
      code: 'journal_overflow',
      part: 'journal_dropped',
      severity: 'critical',
      message: 'Lost.',
    },
  ],
  [
    { code: 'pcs_contrary', source_kind: 'pcs', source_id: '1.0', severity: 'major' },
    {
      code: 'setpoint_not_taken',
      part: 'pcs_contrary',
      severity: null,
      message: 'Inverter 7 is rated otherwise.',
    },
  ],
]

for (const [changes, expected] of cases) {
  test(`${changes.code ?? 'rating_differs'} is ${expected?.code ?? 'no alert'}`, () => {
    assert.deepEqual(alertOf(event(changes)), expected)
  })
}
