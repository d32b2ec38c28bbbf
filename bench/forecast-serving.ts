/**
 * Time to train a production model on two years of hours on one core, and to forecast a day, for a
 * simulated plant.
 */
import { history_plant, plantHistory } from '@heliograph/forecast/fixtures/plant-history'
import {
  deserialiseProduction,
  predictProduction,
  serialiseProduction,
  trainProduction,
} from '@heliograph/forecast/production-model'
import { seededRandom } from '@heliograph/forecast/seeded-random'
import { elapsedMs, tell, tellLatency } from './fixtures/figures.ts'
import { quickOr } from './fixtures/quick.ts'

const training_limit_s = 15
const forecast_limit_ms = 50
const rounds = quickOr(2, 60)
const warm_up = quickOr(1, 5)

const from_ms = Date.UTC(2024, 0, 1)
const first_day = quickOr(50, 300)
const samples = plantHistory({ from_ms, days: quickOr(70, 731), seed: 11 })
const training_began = processorMs()
const { model } = trainProduction(samples, history_plant, seededRandom(11))
const training_s = (processorMs() - training_began) / 1000

if (model === null) throw new Error('two years are too little to learn from')

const bytes = serialiseProduction(model)
const stored = deserialiseProduction(bytes)
const read_ms = await elapsedMs(() => deserialiseProduction(bytes))

const elapsed_ms: number[] = []
for (let round = -warm_up; round < rounds; round++) {
  const day = samples.slice(24 * (first_day + round), 24 * (first_day + round + 1))
  const start_ms = processorMs()
  predictProduction(stored, history_plant, day)
  if (round >= 0) elapsed_ms.push(processorMs() - start_ms)
}
tell(
  training_s <= training_limit_s,
  `training on ${model.facts.sample_count} daylight hours of two years: ${training_s.toFixed(1)} s ` +
    `of a core, limit ${training_limit_s} s; the model is ${(bytes.length / 1e6).toFixed(1)} MB, ` +
    `read in ${read_ms.toFixed(0)} ms`,
)
tellLatency('forecast of a day', elapsed_ms, forecast_limit_ms)

/** Includes garbage collection: processor time of one core without other load. */
function processorMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}
