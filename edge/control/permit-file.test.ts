import assert from 'node:assert/strict'
import test from 'node:test'
import type { Battery } from '@heliograph/domain/battery'
import fc from 'fast-check'
import { inverterOf, siteOf } from '../fixtures/sites.ts'
import {
  parsePermitFile,
  permitEntry,
  permitOf,
  permitSiteOf,
  sealPermitFile,
} from './permit-file.ts'

const site = {
  site_id: 'demo',
  plants: new Map([
    [1, 100_000],
    [2, 100_000],
  ]),
  rated_kw: 200_000,
}
/** An unmistakable figure. */
const permit_kw = 73_519.642

const text = `# What the grid operator wrote on 2027-01-31.
version: 1
site_id: demo
guard_pct: 2
site_permit_kw: ${permit_kw + 1}
plants:
  - { logger_id: 1, permit_kw: ${permit_kw} } # north
  - logger_id: 2
    permit_kw: 0
`

function sealed(of = text): string {
  const result = sealPermitFile(of)
  if ('problems' in result) throw new Error(result.problems.join())
  return result.text
}

function problemsOf(of: string): string[] {
  const parsed = parsePermitFile(of, site)
  return 'problems' in parsed ? parsed.problems : []
}

test('a sealed file is the permit, its guard taken off in whole watts', () => {
  const parsed = parsePermitFile(sealed(), site)
  assert.ok('file' in parsed)
  assert.deepEqual(permitOf(parsed.file), {
    plant_w: new Map([
      [1, Math.floor(73_519_642 * 0.98)],
      [2, 0],
    ]),
    site_w: Math.floor(73_520_642 * 0.98),
  })
  assert.deepEqual(permitEntry(parsed.file), {
    is: 'permit_file',
    plants: [
      { logger_id: 1, permit_w: 73_519_642 },
      { logger_id: 2, permit_w: 0 },
    ],
    site_w: 73_520_642,
    guard_pct: 2,
  })
})

test('watts are never more than the kilowatts of the file, nor a watt less', () => {
  const plant = { logger_id: 1, permit_kw: 1.001 }
  const file = { version: 1 as const, site_id: 'demo', plants: [plant], checksum: '' }
  assert.deepEqual([...permitOf(file).plant_w.values()], [1001])
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 1e9 }),
      fc.double({ min: 0, max: 20, noNaN: true }),
      (w, guard) => {
        const plants = [{ logger_id: 1, permit_kw: w / 1000 }]
        const [full_w] = permitOf({ ...file, plants }).plant_w.values()
        const [less_w] = permitOf({ ...file, plants, guard_pct: guard }).plant_w.values()
        assert.equal(full_w, w)
        assert.ok(less_w! <= (w * (100 - guard)) / 100 && Number.isInteger(less_w))
      },
    ),
  )
})

test('comments and layout stay when it is sealed; they are not what is sealed', () => {
  const once = sealed()
  assert.ok(once.startsWith(text.slice(0, text.indexOf('plants'))), once)
  assert.match(once, /# north\n/)
  assert.equal(sealed(once), once)
  assert.deepEqual(problemsOf(once.replace('# north', '# south')), [])
  const lines = once.split('\n')
  const moved = [...lines.slice(1, 3).reverse(), ...lines.slice(3)].join('\n')
  assert.deepEqual(problemsOf(moved), [])
})

const broken: Record<string, [change: (of: string) => string, problems: RegExp[]]> = {
  'a figure that was changed': [
    (of) => of.replace(`: ${permit_kw} }`, `: ${permit_kw + 1} }`),
    [/^\d+:\d+: checksum: does not fit the rest of the file/],
  ],
  'a guard that was taken out': [
    (of) => of.replace('guard_pct: 2\n', ''),
    [/: checksum: does not fit/],
  ],
  'no checksum': [(of) => of.replace(/checksum.*\n/, ''), [/: checksum: is missing$/]],
  'half a checksum': [
    (of) => of.replace(/[0-9a-f]{8}\n$/, '\n'),
    [/^10:\d+: checksum: does not fit/],
  ],
  'another site': [
    (of) => sealed(of.replace('demo', 'demo-2')),
    [/^3:\d+: site_id: is not that of site\.yaml$/],
  ],
  'a plant that the site does not have': [
    (of) => sealed(of.replace('- logger_id: 2', '- logger_id: 3')),
    [/^8:\d+: plants\[1\]\.logger_id: site\.yaml has no such plant$/],
  ],
  'a plant twice': [
    (of) => of.replace('- logger_id: 2', '- logger_id: 1'),
    [/^8:\d+: plants\[1\]\.logger_id: this plant has an entry already$/],
  ],
  'another version': [
    (of) => of.replace('version: 1', 'version: 2'),
    [/^2:\d+: version: must be one of 1$/],
  ],
  'a figure that is text': [
    (of) => of.replace(`: ${permit_kw} }`, `: "${permit_kw} kW" }`),
    [/^7:\d+: plants\[0\]\.permit_kw: must be a number$/],
  ],
  'a negative figure': [
    (of) => of.replace(`: ${permit_kw} }`, `: -${permit_kw} }`),
    [/: plants\[0\]\.permit_kw: must be at least 0$/],
  ],
  'a figure that is none': [
    (of) => of.replace(`: ${permit_kw} }`, ': .nan }'),
    [/: plants\[0\]\.permit_kw: must be a number$/],
  ],
  'a figure without end': [
    (of) => of.replace(`: ${permit_kw} }`, ': .inf }'),
    [/: plants\[0\]\.permit_kw: must be a number$/],
  ],
  'a guard beyond reason': [
    (of) => of.replace('guard_pct: 2', 'guard_pct: 21'),
    [/: guard_pct: must be at most 20$/],
  ],
  'a field that is misspelt': [
    (of) => of.replace('site_permit_kw', 'sitepermit_kw'),
    [/: sitepermit_kw: there is no such field here$/],
  ],
  'a field that holds a figure': [
    (of) => of.replace(`permit_kw: ${permit_kw}`, `"permit_kw=${permit_kw}": 1`),
    [/: plants\[0\]: has a field that is not known$/, /: plants\[0\]\.permit_kw: is missing$/],
  ],
  'a plant that is a figure': [
    (of) => of.replace(/\{ logger_id.*\}/, String(permit_kw)),
    [/: plants\[0\]: must be a set of fields$/],
  ],
  'a missing blank': [
    (of) => of.replace('site_permit_kw: ', 'site_permit_kw:'),
    [/^\d+:\d+: .*this is not YAML$/],
  ],
  'a file that was cut off': [
    (of) => of.slice(0, of.indexOf('} # north')),
    [/^\d+:\d+: .*this is not YAML$/],
  ],
  'a repeat': [
    (of) => of.replace(`: ${permit_kw} }`, `: &a ${permit_kw} }`).replace('kw: 0', 'kw: *a'),
    [/repeats \(\*\) are not allowed here$/],
  ],
  nothing: [() => '', [/^1:1: must be a set of fields$/]],
  'a list': [() => '- 1\n', [/^1:1: must be a set of fields$/]],
  'bytes that are no text': [() => '\0\x01\uFFFD', [/^1:1: /]],
  'two documents': [(of) => `${of}---\n${of}`, [/: a second document begins here/]],
}

for (const [what, [change, expected]] of Object.entries(broken)) {
  test(`${what}: named by field, without a figure`, () => {
    const changed = change(sealed())
    assert.notEqual(changed, sealed(), 'the test breaks nothing')
    const problems = problemsOf(changed)
    for (const pattern of expected) {
      assert.ok(
        problems.some((problem) => pattern.test(problem)),
        problems.join('\n') || 'no problem',
      )
    }
    assert.doesNotMatch(problems.join(), /73[_,]?5\d\d/)
  })
}

test('a file that is wrong in another way than its seal is not sealed', () => {
  const result = sealPermitFile(text.replace('version: 1', 'version: 7'))
  assert.deepEqual(result, { problems: ['2:1: version: must be one of 1'] })
})

test('a permit in watts is refused, with the likely cause and without a figure', () => {
  const of = (plant_kw: number, site_kw: number) => {
    const file = `version: 1\nsite_id: demo\nsite_permit_kw: ${site_kw}\nplants:\n  - { logger_id: 1, permit_kw: ${plant_kw} }\n`
    const parsed = parsePermitFile(sealed(file), {
      site_id: 'demo',
      plants: new Map([[1, 800]]),
      rated_kw: 800,
    })
    return 'problems' in parsed ? parsed.problems : []
  }
  // A connection may be larger than what is behind it.
  assert.deepEqual(of(600, 10_000), [])
  assert.deepEqual(of(80_000, 80_000), [])
  const cause = 'rated for in site.yaml: give kilowatts, not watts, in both files'
  assert.deepEqual(of(600_000, 1000), [
    `5:21: plants[0].permit_kw: is more than 100 times what the plant is ${cause}`,
  ])
  assert.deepEqual(of(600, 600_000), [
    `3:1: site_permit_kw: is more than 100 times what the site is ${cause}`,
  ])
})

test('a plant is rated for its inverters, as a plant, and for the batteries behind it', () => {
  const inverters = [inverterOf(1, { max_ac_power_kw: 110 }), inverterOf(2)]
  const battery = { logger_id: 1, rated_discharge_power_kw: 50 } as Battery
  const common = { rated_discharge_power_kw: 7 } as Battery
  const site = siteOf(inverters, { batteries: [battery, common] })
  assert.deepEqual(permitSiteOf(site), {
    site_id: 'demo',
    plants: new Map([[1, 260]]),
    rated_kw: 267,
  })
})

test('a permit file that is UTF-16 is told so', () => {
  const utf16 = Buffer.from(`\ufeff${sealed()}`, 'utf16le').toString('utf8')
  assert.deepEqual(problemsOf(utf16), ['1:1: the file is UTF-16, or no text: save it as UTF-8'])
})
