/** A server over the sample endpoints and a database of its own, on whichever clock. */
import { randomUUID } from 'node:crypto'
import { type Clock, systemClock, systemTimers, type Timers } from '@heliograph/domain/clock'
import type { FastifyInstance } from 'fastify'
import { serve } from '../../server/http/serve.ts'
import type { ServeOptions } from '../../server/http/serve-options.ts'
import type { Database, Log } from '../../server/storage/database.ts'
import { silent, type TestDatabase, testDatabase } from '../postgres.ts'
import { addFixtures, type Fixtures } from './fixtures.ts'
import { type Needs, sampleEndpoints, sampleTables } from './sample-endpoints.ts'

export interface SampleServer {
  app: FastifyInstance
  database: TestDatabase
  fixtures: Fixtures
  /** Another replica on the same database. */
  replica(change?: ServerChange): Promise<FastifyInstance>
  drop(): Promise<void>
}

export interface ServerChange {
  db?: Database
  clock?: Clock
  timers?: Timers
  log?: Log
  options?: ServeOptions
  plant?: Needs['plant']
}

export async function sampleServer(change: ServerChange = {}): Promise<SampleServer> {
  const database = await testDatabase()
  const fixtures = await addFixtures(database.db)
  await database.db.execute(sampleTables)
  const apps: FastifyInstance[] = []
  const replica = async (own: ServerChange = {}) => {
    const {
      clock = systemClock,
      timers = systemTimers,
      log = silent,
      ...rest
    } = { ...change, ...own }
    const db = rest.db ?? database.db
    const needs = { clock, db, plant: rest.plant ?? { async settled() {} } }
    const { options = {} } = rest
    const input = { endpoints: sampleEndpoints, needs, db, clock, timers, log, options }
    const app = await serve({ ...input, newId: randomUUID })
    apps.push(app)
    return app
  }
  return {
    app: await replica(),
    database,
    fixtures,
    replica,
    async drop() {
      for (const app of apps) await app.close()
      await database.drop()
    },
  }
}
