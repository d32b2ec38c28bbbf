/**
 * Score of power forecasts on the shared data of the Global Energy Forecasting Competition 2014:
 * `npm run score:gefcom -- --tasks 4-9`. Takes about a minute per task. The winner's score is that
 * of the competition, which had the same past data.
 */
import { parseArgs } from 'node:util'
import { percentile_levels } from '@heliograph/forecast/quantiles'
import {
  coverage,
  meanAbsoluteError,
  meanPinballLoss,
  pinballLoss,
} from '@heliograph/forecast/scores'
import { gefcomFolder, readCsv, readGefcom } from './gefcom.ts'
import { type ReplayedTask, replayTask } from './gefcom-replay.ts'

/** Bounds for daylight hours over several months; single months vary more. */
const coverage_limits = [0.77, 0.83] as const
const [p10_at, p50_at, p90_at] = [9, 49, 89] as const

const { values } = parseArgs({ options: { tasks: { type: 'string', default: '4-9' } } })

type Official = Record<'winner' | 'benchmark', number>
type Figures = ReturnType<typeof figuresOf> & Official & { seconds: number }

/** Printed figures with their decimals; null for counts. */
const columns = [
  ['pinball', 5],
  ['winner', 5],
  ['benchmark', 5],
  ['coverage', 3],
  ['crossing', null],
  ['negative', null],
  ['above', null],
] as const satisfies readonly [keyof Figures, number | null][]

function main(): void {
  const folder = gefcomFolder()
  if (folder === null) throw new Error('no data at ../shared/data/forecast')
  const zones = readGefcom(folder)
  const official = readOfficial(folder)
  const [first, last = first] = values.tasks.split('-').map(Number)
  if (!(first! >= 1 && last! <= 9 && first! <= last!)) throw new Error('--tasks: 1 to 9, as 4-9')
  print(['task', ...columns.map(([name]) => name)])
  const all: Figures[] = []
  for (let task = first!; task <= last!; task++) {
    const started = process.cpuUsage()
    const replayed = replayTask(zones, task)
    const seconds = process.cpuUsage(started).user / 1e6
    const figures = { ...figuresOf(replayed), ...official.get(task)!, seconds }
    all.push(figures)
    printFigures(String(task), figures)
  }
  const mean = Object.fromEntries(
    Object.keys(all[0]!).map((name) => [
      name,
      all.reduce((sum, figures) => sum + figures[name as keyof Figures] / all.length, 0),
    ]),
  ) as unknown as Figures
  printFigures('mean', mean)
  const fixed = (value: number) => value.toFixed(4)
  process.stdout.write(
    `pinball of P10 ${fixed(mean.p10)}, P50 ${fixed(mean.p50)}, P90 ${fixed(mean.p90)}; mean ` +
      `absolute error of P50 in daylight ${fixed(mean.mae)} of the rated power; ` +
      `${mean.seconds.toFixed(0)} s of processor time for each task\n` +
      `limits: the winner's mean, coverage ${coverage_limits.join(' to ')}, no crossing, ` +
      'nothing negative or above the rated power\n',
  )
  const [low, high] = coverage_limits
  const isGood =
    mean.pinball <= mean.winner &&
    mean.coverage >= low &&
    mean.coverage <= high &&
    mean.crossing + mean.negative + mean.above === 0
  process.exitCode = isGood ? 0 : 1
}

function figuresOf({ actual, quantiles, is_night }: ReplayedTask) {
  const lit = (column: Float64Array) => column.filter((_, row) => is_night[row] === 0)
  const p50 = quantiles[p50_at]!
  return {
    pinball: meanPinballLoss(actual, quantiles, percentile_levels)!,
    coverage: coverage(lit(actual), lit(quantiles[p10_at]!), lit(quantiles[p90_at]!))!,
    crossing: quantiles
      .slice(1)
      .reduce(
        (sum, column, i) => sum + count(column, (value, row) => value < quantiles[i]![row]!),
        0,
      ),
    negative: quantiles.reduce((sum, column) => sum + count(column, (value) => value < 0), 0),
    above: quantiles.reduce((sum, column) => sum + count(column, (value) => value > 1), 0),
    p10: pinballLoss(actual, quantiles[p10_at]!, 0.1)!,
    p50: pinballLoss(actual, p50, 0.5)!,
    p90: pinballLoss(actual, quantiles[p90_at]!, 0.9)!,
    mae: meanAbsoluteError(lit(actual), lit(p50))!,
  }
}

function count(column: Float64Array, isBad: (value: number, row: number) => boolean): number {
  return column.filter(isBad).length
}

/** Scores of the winner and of the organisers' benchmark by task. */
function readOfficial(folder: URL): Map<number, Official> {
  const rows = readCsv(new URL('official_scores_tasks_x_teams.csv', folder))
  return new Map(
    rows.map((row) => [
      Number(Object.values(row)[0]!.replace('Task', '')),
      { winner: Number(row['Gang-gang']), benchmark: Number(row['Benchmark - Solar']) },
    ]),
  )
}

const printFigures = (task: string, figures: Figures): void =>
  print([
    task,
    ...columns.map(([name, decimals]) =>
      decimals === null ? String(figures[name]) : figures[name].toFixed(decimals),
    ),
  ])

function print(cells: readonly string[]): void {
  process.stdout.write(`${cells.map((cell) => cell.padStart(10)).join('')}\n`)
}

main()
