/**
 * Plans beside those of a second solver, Debian's glpsol, which gets the whole problem written out
 * with every binary column. What is compared is how good the plan itself is by its objective, not
 * what our programme says of it.
 */
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import test from 'node:test'
import { planDispatch } from './dispatch.ts'
import { objectives } from './dispatch-problem.ts'
import { instanceOf, type Wish } from './fixtures/instances.ts'
import { solveByGlpsol, wholeProgramme } from './fixtures/whole-programme.ts'
import { type Goal, measure, type Stage, stagesOf } from './goals.ts'
import { loadSolver } from './solver.ts'

const skip = existsSync('/usr/bin/glpsol') ? false : 'glpsol is not there: install glpk-utils'
if (skip) process.stderr.write(`NOT CROSS-CHECKED: ${skip}\n`)
const highs = await loadSolver()
const seconds_max = 2

/** Plans in whole watts, goals in kW, kWh or money. */
const rounding = 0.02
/** What is given for it of the first goal is worth more in the second. */
const rounding_then = 0.05
/** What plans may be short of the best, as a share: `PlanOptions.gap_ratio`. */
const gap = 1e-4

/** Of each objective. `CROSS_CHECKED=8` takes twice the time. */
const plans = Number(process.env['CROSS_CHECKED'] ?? 4)

const wishes = Array.from({ length: 5 * plans }, (_, seed): Wish & { seed: number } => ({
  seed,
  objective: objectives[seed % 5]!,
  isNegative: seed % 2 === 0,
  ...(seed % 4 === 3
    ? ({ grid: 'quarters', units: 1 } as const)
    : seed % 4 === 1
      ? ({ grid: 'mixed', units: 1 + (seed % 2) } as const)
      : ({ grid: 'hours', units: seed % 5 === 3 ? 1 : 1 + (seed % 4) + (seed % 3) } as const)),
}))

for (const objective of objectives) {
  test(`${objective}: plans are as good as glpsol's`, { skip }, async () => {
    const is_firming = objective === 'capacity_firming'
    let proven = 0
    for (const { seed, ...wish } of wishes.filter((of) => of.objective === objective)) {
      const problem = instanceOf(seed, wish)
      const plan = planDispatch(highs, problem, { time_limit_s: 10 })
      assert.deepEqual([seed, plan.demands, plan.violations], [seed, 'met', []])
      if (!is_firming) assert.deepEqual([seed, plan.status], [seed, 'optimal'])
      const [{ goal, gives }, next] = stagesOf[objective] as [Stage, Stage?]
      const ours = measure(problem, plan.units, goal)
      const theirs = await solveByGlpsol(wholeProgramme(problem, goal), seconds_max)
      if (!theirs?.isOptimal) continue
      proven += 1
      const says = `seed ${seed}, ${goal}: ours ${ours}, theirs ${theirs.value}`
      const gain = (value: number, of: Goal) =>
        of === 'money' ? Math.abs(value - measure(problem, [], of)) : Math.abs(value)
      // None beats a proven best. Firming is as good, too, where it is not proven in time.
      assert.ok(ours >= theirs.value - rounding, says)
      assert.ok(ours <= theirs.value + rounding + (gives + gap) * gain(theirs.value, goal), says)
      if (next === undefined) continue
      const held = { goal, most: ours + (goal === 'money' ? 1e-5 : rounding) }
      const then = await solveByGlpsol(wholeProgramme(problem, next.goal, held), seconds_max)
      if (!then?.isOptimal) continue
      const second = measure(problem, plan.units, next.goal)
      if (plan.status !== 'optimal') {
        assert.ok(second >= then.value - rounding_then, `seed ${seed}, then ${next.goal}`)
        continue
      }
      assert.ok(
        Math.abs(second - then.value) <= rounding_then + gap * gain(then.value, next.goal),
        `seed ${seed}, then ${next.goal}: ours ${second}, theirs ${then.value}`,
      )
    }
    // Half of firming may be beyond it in that time.
    assert.ok(proven >= (is_firming ? 0.5 : 0.75) * plans, `only ${proven} proven by glpsol`)
  })
}
