/** Every job of the server. A line here is all that a new one needs beside its code. */
import { readingKinds } from '@heliograph/domain/readings'
import { watchGaps } from '../gaps/watch.ts'
import { deleteExpired } from '../http/idempotency.ts'
import { ensurePartitions, weeksAhead } from '../storage/partitions.ts'
import { defineJob, type JobContext } from './job.ts'
import { forgetAbandonedJournals, forgetReplicas } from './leftovers.ts'
import { dropOldReadings } from './retention.ts'

const reading_tables = Object.values(readingKinds).map(({ table }) => table)

export const jobs = [
  defineJob({
    name: 'make_partitions',
    schedule: '7 * * * *',
    seconds_max: 300,
    run: makePartitions,
  }),
  defineJob({
    name: 'drop_old_readings',
    schedule: '20 2 * * *',
    seconds_max: 7200,
    run: dropOldReadings,
  }),
  defineJob({
    name: 'forget_abandoned_journals',
    schedule: '50 2 * * *',
    seconds_max: 600,
    run: ({ db }) => forgetAbandonedJournals(db),
  }),
  defineJob({
    name: 'forget_request_records',
    schedule: '*/10 * * * *',
    seconds_max: 300,
    async run({ db, clock }) {
      await deleteExpired(db, clock.now())
      await forgetReplicas(db)
    },
  }),
  defineJob({
    name: 'watch_gaps',
    schedule: '* * * * *',
    seconds_max: 600,
    run: ({ db, clock, signal }) => watchGaps(db, clock.now(), signal),
  }),
]

/** The partitions of readings from now to four weeks ahead; those of late ones come with them. */
async function makePartitions({ db, clock, log }: JobContext): Promise<void> {
  const { from, to } = weeksAhead(clock.now())
  const made = await ensurePartitions(db, reading_tables, from, to)
  if (made.length > 0) log.info({ made }, 'partitions were made')
}
