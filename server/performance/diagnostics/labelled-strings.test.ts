import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { type TestContext, test } from 'node:test'
import {
  type LabelledInverter,
  type LabelledString,
  readLabelledInverters,
  readThinnedInverter,
  sumsOf,
} from './fixtures/labelled-strings.ts'
import { judgeStrings, type StringVerdict } from './string-health.ts'

interface Judged {
  inverter: string
  label: LabelledString
  verdict: StringVerdict
}

const costly = new Set(['open', 'soiling', 'bypass', 'shade_pm', 'series_r'])
/** A fault of the string itself that costs more than 2 %. */
const isFaulty = ({ label }: Judged) =>
  costly.has(label.fault) && (label.true_loss_frac as number) > 0.02
const isSound = ({ label }: Judged) => label.connected && !costly.has(label.fault)
const isFlagged = ({ verdict }: Judged) => verdict.is_culprit

function judgeAll(inverters: readonly LabelledInverter[]): Judged[] {
  return inverters.flatMap((inverter) => {
    const { total, days, hours } = sumsOf(inverter)
    const verdicts = judgeStrings(inverter.layout, total, { days, hours })
    return inverter.strings.map((label, at) => ({
      inverter: inverter.name,
      label,
      verdict: verdicts[at] as StringVerdict,
    }))
  })
}

/** How often a faulty string has a greater loss than one that is not; what is unknown has none. */
function areaUnderCurve(judged: readonly Judged[], isPositive: (each: Judged) => boolean): number {
  const loss = ({ verdict }: Judged) => 1 - (verdict.own_ratio ?? 1)
  const positive = judged.filter(isPositive)
  const negative = judged.filter((each) => !isPositive(each))
  const wins = positive.flatMap((one) =>
    negative.map((other) => (1 + Math.sign(loss(one) - loss(other))) / 2),
  )
  return wins.reduce((a, b) => a + b, 0) / wins.length
}

function diagnoseMatrix(t: TestContext, judged: readonly Judged[]): void {
  const kindOf = (each: Judged) =>
    isFaulty(each) ? 'faulty' : costly.has(each.label.fault) ? 'faulty <2 %' : each.label.fault
  const matrix = Map.groupBy(judged, (each) => {
    const { status, reason, suspected_cause } = each.verdict
    return `${kindOf(each)} ${each.label.fault}: ${[status, reason, suspected_cause]
      .filter((word) => word !== null)
      .join(' ')}`
  })
  for (const [row, { length }] of [...matrix].toSorted()) t.diagnostic(`${length} x ${row}`)
}

function assertVerdicts(judged: readonly Judged[]): void {
  const accused = judged.filter((each) => isSound(each) && isFlagged(each))
  assert.deepEqual(accused, [], 'no sound string is accused')
  for (const { label, verdict, inverter } of judged) {
    const what = `${inverter} string ${label.index}, ${label.fault}`
    if (label.fault === 'unused') assert.equal(verdict.reason, 'not_connected', what)
    if (label.fault === 'stuck') assert.equal(verdict.reason, 'stale', what)
    if (label.fault === 'open') assert.equal(verdict.status, 'dead', what)
    if (label.fault === 'none') assert.equal(verdict.status, 'healthy', what)
  }
}

test('two labelled inverters, thinned: every fault is found and no sound string accused', (t) => {
  const judged = judgeAll([readThinnedInverter('s01'), readThinnedInverter('s08')])
  diagnoseMatrix(t, judged)
  assertVerdicts(judged)
  assert.ok(judged.filter(isFaulty).length >= 6)
  assert.deepEqual(
    judged.filter((each) => isFaulty(each) && !isFlagged(each)),
    [],
  )
  const affected = judged.filter(({ verdict }) => verdict.affected_by_string_index !== null)
  assert.deepEqual(
    affected.map(({ inverter, label, verdict }) => [
      inverter,
      label.index,
      verdict.affected_by_string_index,
    ]),
    [
      ['s01', 6, 7],
      ['s01', 9, 8],
      ['s08', 13, 12],
      ['s08', 19, 18],
    ],
  )
})

const folder = new URL('../../../../shared/data/oracle/string_health/', import.meta.url)
const skip = existsSync(folder)
  ? false
  : 'no labelled strings at ../shared/data/oracle/string_health'

test('16 labelled inverters: better than ratio and z-score alone', { skip }, (t) => {
  const judged = judgeAll(readLabelledInverters(folder))
  diagnoseMatrix(t, judged)
  assertVerdicts(judged)
  const connected = judged.filter(({ label }) => label.connected)
  const curve = areaUnderCurve(connected, isFaulty)
  const flagged = judged.filter(isFlagged)
  const faulty = judged.filter(isFaulty)
  const recall = faulty.filter(isFlagged).length / faulty.length
  // A fault that costs less than 2 % is a fault.
  const precision = flagged.filter((each) => !isSound(each)).length / flagged.length
  t.diagnostic(`area ${curve.toFixed(4)}, recall ${recall.toFixed(3)}, precision ${precision}`)
  assert.equal(judged.length, 258)
  assert.ok(curve >= 0.999)
  assert.ok(recall >= 0.97)
  assert.equal(precision, 1)

  const losses = faulty.filter(({ label, verdict }) => label.onset === 0 && verdict.ratio !== null)
  const errors = losses.map(({ label, verdict }) =>
    Math.abs(1 - (verdict.ratio as number) - (label.true_loss_frac as number)),
  )
  const mean_error = errors.reduce((a, b) => a + b, 0) / errors.length
  t.diagnostic(`error of the loss ${mean_error.toFixed(4)} in the mean of ${errors.length}`)
  assert.ok(mean_error < 0.008)

  const right: Record<string, string[]> = {
    open: ['connector', 'fuse'],
    soiling: ['soiling'],
    bypass: ['bypass_diode'],
    shade_pm: ['shading'],
    series_r: ['connector'],
  }
  const named = flagged.filter(({ label, verdict }) =>
    right[label.fault]?.includes(verdict.suspected_cause ?? ''),
  )
  t.diagnostic(`cause ${named.length} of ${flagged.length}`)
  assert.ok(named.length / flagged.length >= 0.94)
})
