/**
 * Time to train the forecast of a plant on one core: two years of daylight hours, a forest and 13
 * boosted quantiles, the largest training. Seconds are of processor time, so that other programs
 * have little effect. The share of the future between P10 and P90 is checked too: a fast model that
 * learned nothing would fail.
 */
import { predictBlend, trainBlend } from '@heliograph/forecast/blended-trees'
import { type FeatureTable, featureTable } from '@heliograph/forecast/feature-table'
import { coverage } from '@heliograph/forecast/scores'
import { seededRandom } from '@heliograph/forecast/seeded-random'
import { gefcom_options } from '../scripts/gefcom-replay.ts'
import { quickOr } from './fixtures/quick.ts'

const limits = { training_s: 15, prediction_ms: 200, coverage: [0.75, 0.9] } as const
const rows = quickOr(40, 2 * 365) * 12
const asked_rows = 7 * 24
const features = 26
const levels = [0.1, 0.5, 0.9]

/** Power that follows irradiance through partly known clouds. */
function plant(count: number, random: () => number): { table: FeatureTable; power: Float64Array } {
  const column = () => Float64Array.from({ length: count }, random)
  const columns = Object.fromEntries(
    Array.from({ length: features }, (_, i) => [`feature_${i}`, column()]),
  )
  const light = columns['feature_0']!
  const cloud = columns['feature_1']!
  const power = light.map((share, row) => share * (1 - cloud[row]! * (0.4 + 0.5 * random())))
  return { table: featureTable(columns), power }
}

const random = seededRandom(1)
const past = plant(rows, random)
const future = plant(asked_rows * 10, random)
const started = process.cpuUsage()
const model = trainBlend(past.table, past.power, gefcom_options, random)
const trained = process.cpuUsage(started)
const training_s = (trained.user + trained.system) / 1e6
const asked = process.cpuUsage()
const [p10, , p90] = predictBlend(model, future.table, levels)
const prediction_ms = process.cpuUsage(asked).user / 1e3 / 10
const covered = coverage(future.power, p10!, p90!)!
process.stdout.write(
  `${rows} hours, ${features} features, ${gefcom_options.boosted_levels.length} boosted quantiles ` +
    `and a forest: learned in ${training_s.toFixed(1)} s, limit ${limits.training_s} s; a week ` +
    `forecast in ${prediction_ms.toFixed(0)} ms, limit ${limits.prediction_ms} ms; ` +
    `${(100 * covered).toFixed(1)} % between P10 and P90, limits ${limits.coverage.join(' to ')}\n`,
)
const [low, high] = limits.coverage
const isGood =
  training_s <= limits.training_s &&
  prediction_ms <= limits.prediction_ms &&
  covered >= low &&
  covered <= high
process.exitCode = isGood ? 0 : 1
