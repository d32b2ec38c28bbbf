/** Scores the forecasts of a site, day by day, for `/predictions/model-status`. */
import { day_ms } from '@heliograph/domain/durations'
import { utcDate, utcDayStart } from '@heliograph/domain/utc-day'
import type { ForecastStep } from '@heliograph/forecast/production-scores'
import type { Queries } from '../storage/database.ts'
import { type Course, readCourses } from './course.ts'
import type { Gate } from './gate-closure.ts'
import { plantOf } from './production-runs.ts'
import { readServices, siteInService } from './service.ts'
import type { ForecastSite, Target } from './targets.ts'
import type { DayScores, ScoreTask } from './tasks.ts'
import type { ForecastThread } from './thread.ts'
import { type LeadTime, leadSpans, readVintageSteps, type VintageStep } from './vintage-steps.ts'

/** Longest window of `/predictions/model-status`. */
export const scored_days_max = 90
/** Includes the days that persistence needs before the window. */
const seen_days_max = scored_days_max + 7
/** Days that are rescored each time, as readings arrive late and new models replace hindcasts. */
const scored_again_days: Record<LeadTime, number> = { day_ahead: 30, intraday: 8 }

interface ScoreNeeds {
  db: Queries
  thread: ForecastThread
  site: ForecastSite
  gate: Gate
  courses: { site: Course; plants: Map<number, Course> }
}

/** Scores the UTC days before today. */
export async function scoreSite(needs: ScoreNeeds, now: Date): Promise<void> {
  const { db, thread, site, gate, courses } = needs
  const { site_id } = site
  const to_ms = utcDayStart(now)
  const whole = await sitePast(needs, to_ms)
  const scored = await scoredTargets(db, site_id)
  for (const target of site.targets) {
    const plant = plantOf(site, target)
    const course = target.logger_id === null ? whole : courses.plants.get(target.logger_id)
    if (!plant || !course) continue
    const days: ScoreTask['days'] = []
    for (const lead_time of ['day_ahead', 'intraday'] as const) {
      const back = scored.has(target.target) ? scored_again_days[lead_time] : scored_days_max
      const from_ms = to_ms - back * day_ms
      const spans = leadSpans(lead_time, { from_ms, to_ms }, gate)
      const of = { site_id, target: target.target }
      const steps = await readVintageSteps(db, of, { lead_time, spans })
      const byDate = Map.groupBy(steps.filter(isForecast), ({ start_ms }) => utcDate(start_ms))
      for (const [target_date, of_day] of byDate) {
        days.push({ target_date, lead_time, steps: of_day })
      }
    }
    if (days.length === 0) continue
    const scores = await thread.run({ kind: 'score', plant, course, days })
    await storeScores(db, { site_id, target: target.target }, scores)
  }
}

/** Production of the plants in service at the time, which the forecasts of the site were about. */
async function sitePast({ db, site, courses }: ScoreNeeds, to_ms: number): Promise<Course> {
  const { site_id } = site
  const from_ms = Math.max(courses.site.from_ms, to_ms - seen_days_max * day_ms)
  const span = { from_ms, to_ms }
  const services = await readServices(db, site_id, span)
  const retired = services.map(({ logger_id }) => logger_id).filter((id) => !courses.plants.has(id))
  const past = await readCourses(db, { site_id, logger_ids: retired, ...span })
  return siteInService(new Map([...courses.plants, ...past.plants]), services, span)
}

const isForecast = (step: VintageStep): step is VintageStep & ForecastStep =>
  step.p10_kw !== null && step.p50_kw !== null && step.p90_kw !== null

async function scoredTargets(db: Queries, site_id: string): Promise<Set<Target>> {
  const rows = await db.query<{ target: Target }>(
    'select distinct target from forecast_scores where site_id = $1',
    [site_id],
  )
  return new Set(rows.map(({ target }) => target))
}

async function storeScores(
  db: Queries,
  { site_id, target }: { site_id: string; target: Target },
  days: readonly DayScores[],
): Promise<void> {
  await db.execute(
    `insert into forecast_scores (site_id, target, lead_time, target_date, sums)
     select $1, $2, * from unnest($3::text[], $4::date[], $5::jsonb[])
     on conflict (site_id, target, lead_time, target_date) do update set sums = excluded.sums`,
    [
      site_id,
      target,
      days.map(({ lead_time }) => lead_time),
      days.map(({ target_date }) => target_date),
      days.map(({ sums }) => JSON.stringify(sums)),
    ],
  )
}
