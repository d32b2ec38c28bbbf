import type { SiteProblem } from '@heliograph/domain/site-check'
import { type Static, Type } from 'typebox'
import { Closed } from '../http/params.ts'
import { isMailAddress } from '../mail/address.ts'
import { alertSeverities } from './rule.ts'

const Severity = Type.Enum([...alertSeverities])
const Address = Type.String({ minLength: 3, maxLength: 254 })
/** HH:MM in the time zone of the site. */
const TimeOfDay = Type.String({ minLength: 5, maxLength: 5 })

type RecipientInFile = Static<typeof RecipientInFile>
const RecipientInFile = Closed({
  address: Address,
  min_severity: Type.Optional(Severity),
  quiet_hours: Type.Optional(Closed({ from: TimeOfDay, to: TimeOfDay })),
  digest: Type.Optional(Type.Enum(['immediate', 'hourly', 'daily'])),
  /** For a daily digest. */
  digest_at: Type.Optional(TimeOfDay),
  /** Mails critical alerts at once, despite quiet hours and digest. */
  critical_at_once: Type.Optional(Type.Boolean()),
})

export type MailInFile = Static<typeof MailInFile>
export const MailInFile = Closed({
  recipients: Type.Array(RecipientInFile, { maxItems: 50 }),
  escalation: Type.Optional(
    Closed({
      after_min: Type.Integer({ minimum: 1, maximum: 1440 }),
      to: Type.Array(Address, { minItems: 1, maxItems: 50 }),
    }),
  ),
  storm_count: Type.Optional(Type.Integer({ minimum: 1, maximum: 100 })),
})

export interface MailRecipient extends Required<Omit<RecipientInFile, 'quiet_hours'>> {
  /** Spans midnight when `from` is after `to`. */
  quiet_hours: { from: string; to: string } | null
}

export interface MailSettings {
  recipients: readonly MailRecipient[]
  /** Recipients of critical alerts that are not acknowledged in time; ignores quiet hours. */
  escalation: { after_min: number; to: readonly string[] } | null
  /** More alerts than this in a round share one mail. */
  storm_count: number
}

export function mailInForce(mail: MailInFile | undefined): MailSettings {
  return {
    recipients: (mail?.recipients ?? []).map((recipient) => ({
      min_severity: 'critical',
      quiet_hours: null,
      digest: 'immediate',
      digest_at: '07:00',
      critical_at_once: true,
      ...recipient,
    })),
    escalation: mail?.escalation ?? null,
    storm_count: mail?.storm_count ?? 5,
  }
}

/** Checks beyond the schema. Paths begin at the root of the settings. */
export function mailProblems(mail: MailInFile | undefined): SiteProblem[] {
  const { recipients = [], escalation } = mail ?? {}
  const problems: SiteProblem[] = []
  for (const [nth, { quiet_hours, digest, digest_at }] of recipients.entries()) {
    const of = ['mail', 'recipients', nth]
    const checkTime = (time: string | undefined, ...names: string[]) => {
      if (time === undefined || /^([01]\d|2[0-3]):[0-5]\d$/.test(time)) return
      const message = `must be a time such as 22:30, not '${time}'`
      problems.push({ path: [...of, ...names], message })
    }
    checkTime(quiet_hours?.from, 'quiet_hours', 'from')
    checkTime(quiet_hours?.to, 'quiet_hours', 'to')
    if (quiet_hours && quiet_hours.from === quiet_hours.to) {
      const message = 'must begin and end at different times'
      problems.push({ path: [...of, 'quiet_hours'], message })
    }
    checkTime(digest_at, 'digest_at')
    if (digest_at !== undefined && digest !== 'daily') {
      const message = 'is allowed only with a daily digest'
      problems.push({ path: [...of, 'digest_at'], message })
    }
  }
  const addresses = recipients.map(({ address }) => address)
  return [
    ...problems,
    ...addressProblems(addresses, (nth) => ['mail', 'recipients', nth, 'address']),
    ...addressProblems(escalation?.to ?? [], (nth) => ['mail', 'escalation', 'to', nth]),
  ]
}

function addressProblems(
  addresses: readonly string[],
  pathOf: (nth: number) => SiteProblem['path'],
): SiteProblem[] {
  const folded = addresses.map((address) => address.toLowerCase())
  return addresses.flatMap((address, nth) => {
    const path = pathOf(nth)
    if (!isMailAddress(address)) {
      const message = `must be one mail address such as name@example.com, not '${address}'`
      return [{ path, message }]
    }
    return folded.indexOf(folded[nth]!) < nth
      ? [{ path, message: `'${address}' is listed twice` }]
      : []
  })
}
