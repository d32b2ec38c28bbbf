/**
 * The log of the sign-in library. Anonymous callers can cause refusals, so these are truncated and
 * limited per minute.
 */

import type { Clock } from '@heliograph/domain/clock'
import { minute_ms } from '@heliograph/domain/durations'
import { cutText } from '@heliograph/domain/log-line'
import { visible } from '../http/visible-text.ts'
import type { Log } from '../storage/database.ts'

const text_characters_max = 300
const refusals_per_minute = 10

/** Refused origins and redirect URLs; all other errors are failures of this server. */
const refusal = /^(Invalid|Blocked) /

export function signInLog(log: Log, clock: Clock) {
  let minute = 0
  let refusals = 0
  return (level: string, message: unknown, ...details: unknown[]): void => {
    if (level !== 'error') return
    const full = [message, ...details.filter((each) => each instanceof Error)].join(': ')
    const text = `sign-in: ${cutText(visible(full), text_characters_max)}`
    if (!refusal.test(full)) {
      log.error({}, text)
      return
    }
    const present = Math.floor(clock.now().getTime() / minute_ms)
    refusals = present === minute ? refusals + 1 : 1
    minute = present
    if (refusals <= refusals_per_minute) log.warn({}, text)
    if (refusals === refusals_per_minute + 1) {
      log.warn({}, 'sign-in: further refusals of this minute are not logged')
    }
  }
}
