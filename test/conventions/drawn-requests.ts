/** Requests that are drawn at random over the whole table, and the property that holds for them. */
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import type { InjectOptions, LightMyRequestResponse } from 'fastify'
import type { AnyEndpoint, Subject } from './calls.ts'

/** A request for an app in this process, or over HTTP. */
export interface DrawnRequest {
  method: string
  url: string
  headers: Record<string, string>
  payload?: string
}

export interface Draw<Drawn> {
  drawn: fc.Arbitrary<Drawn>
  requestOf(
    drawn: Drawn,
    endpoints: readonly AnyEndpoint[],
    fixtures: Subject['fixtures'],
  ): DrawnRequest
}

/** Declares one property over the whole table; a failure prints the seed that replays it. */
export function testDrawnRequests<Drawn>(
  title: string,
  { drawn, requestOf }: Draw<Drawn>,
  {
    endpoints,
    setUp,
    runs,
    check,
  }: {
    endpoints: readonly AnyEndpoint[]
    setUp: () => Promise<Subject>
    runs: number
    check: (response: LightMyRequestResponse) => void
  },
): void {
  let subject: Subject
  before(async () => {
    subject = await setUp()
  })
  after(() => subject?.drop())

  test(title, async (t) => {
    const seed = Number(process.env.FUZZ_SEED ?? 2026)
    t.diagnostic(`FUZZ_SEED=${seed}`)
    const property = fc.asyncProperty(drawn, async (one) => {
      const request = requestOf(one, endpoints, subject.fixtures)
      const response = await subject.app.inject(request as InjectOptions)
      try {
        check(response)
      } catch (error) {
        throw new Error(`${request.method} ${request.url} ${request.payload}`, { cause: error })
      }
    })
    await fc.assert(property, { numRuns: runs, seed, endOnFailure: true })
  })
}

/**
 * Percent-encodes characters that no request line can hold, and those that are `reserved`. Percent
 * signs stay as they are.
 */
export const encodeOnce = (value: string, reserved = /[?#/]/) =>
  value.replaceAll(new RegExp(`[^\\x21-\\x7e]|${reserved.source}`, 'gu'), (character) =>
    encodeURIComponent(character.toWellFormed()),
  )
