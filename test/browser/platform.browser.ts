/**
 * The owner's platform as people use it, and the examples as they are typed: the whole demo and a
 * real browser, one of each for all of it. Each test has a window of its own.
 */
import { suite } from 'node:test'
import './accounts.ts'

// Every page is looked through while others work: a journey mostly waits for the plant.
suite('with a server and a network', { concurrency: 2 }, async () => {
  await import('./pages.ts')
  // One after the other: they command the same plants.
  suite('journeys', { concurrency: 1 }, async () => {
    await import('./commands.ts')
    await import('./proposals.ts')
    await import('./maintenance.ts')
    await import('./events.ts')
    await import('./reports.ts')
    await import('./audit.ts')
    await import('./enrolment.ts')
    await import('./readme-examples.ts')
    await import('./reference-examples.ts')
    // By then the demo has summed up its history.
    await import('./overview.ts')
    await import('./tables.ts')
    await import('./search.ts')
    await import('./diagnosis.ts')
    await import('./market.ts')
    // Plans tomorrow, for which the demo has prices some minutes after its start.
    await import('./dialogs.ts')
  })
})

suite('without a server or a network', { concurrency: 1 }, async () => {
  await import('./connection.ts')
  await import('./outages.ts')
})
