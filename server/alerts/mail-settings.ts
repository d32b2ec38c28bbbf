/** The mail recipients in the alert settings of a site. */
import type { SiteProblem } from '@heliograph/domain/site-check'
import { type Static, Type } from 'typebox'
import { isMailAddress } from '../mail/address.ts'
import { type AlertSeverity, alertSeverities } from './rule.ts'

const closed = { additionalProperties: false } as const
const Severity = Type.Enum([...alertSeverities])
const Address = Type.String({ minLength: 3, maxLength: 254 })
/** HH:MM in the time zone of the site. */
const TimeOfDay = Type.String({ minLength: 5, maxLength: 5 })

const digests = ['immediate', 'hourly', 'daily'] as const
type Digest = (typeof digests)[number]

export const MailInFile = Type.Object(
  {
    recipients: Type.Array(
      Type.Object(
        {
          address: Address,
          min_severity: Type.Optional(Severity),
          quiet_hours: Type.Optional(Type.Object({ from: TimeOfDay, to: TimeOfDay }, closed)),
          digest: Type.Optional(Type.Enum([...digests])),
          digest_at: Type.Optional(TimeOfDay),
          critical_at_once: Type.Optional(Type.Boolean()),
        },
        closed,
      ),
      { maxItems: 50 },
    ),
    escalation: Type.Optional(
      Type.Object(
        {
          after_min: Type.Integer({ minimum: 1, maximum: 1440 }),
          to: Type.Array(Address, { minItems: 1, maxItems: 50 }),
        },
        closed,
      ),
    ),
    storm_count: Type.Optional(Type.Integer({ minimum: 1, maximum: 100 })),
  },
  closed,
)
export type MailInFile = Static<typeof MailInFile>

export interface MailRecipient {
  address: string
  min_severity: AlertSeverity
  /** HH:MM in the time zone of the site; spans midnight when `from` is after `to`. */
  quiet_hours: { from: string; to: string } | null
  digest: Digest
  /** HH:MM in the time zone of the site, for a daily digest. */
  digest_at: string
  /** Mails critical alerts at once, despite quiet hours and digest. */
  critical_at_once: boolean
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
  const at = (nth: number, ...names: string[]) => ['mail', 'recipients', nth, ...names]
  return [
    ...recipients.flatMap(({ quiet_hours, digest, digest_at }, nth) => [
      ...(quiet_hours ? timeProblems(quiet_hours.from, at(nth, 'quiet_hours', 'from')) : []),
      ...(quiet_hours ? timeProblems(quiet_hours.to, at(nth, 'quiet_hours', 'to')) : []),
      ...(quiet_hours && quiet_hours.from === quiet_hours.to
        ? [{ path: at(nth, 'quiet_hours'), message: 'must begin and end at different times' }]
        : []),
      ...(digest_at === undefined ? [] : timeProblems(digest_at, at(nth, 'digest_at'))),
      ...(digest_at !== undefined && digest !== 'daily'
        ? [{ path: at(nth, 'digest_at'), message: 'is allowed only with a daily digest' }]
        : []),
    ]),
    ...addressProblems(
      recipients.map(({ address }) => address),
      (nth) => at(nth, 'address'),
    ),
    ...addressProblems(escalation?.to ?? [], (nth) => ['mail', 'escalation', 'to', nth]),
  ]
}

function timeProblems(time: string, path: SiteProblem['path']): SiteProblem[] {
  if (/^([01]\d|2[0-3]):[0-5]\d$/.test(time)) return []
  return [{ path, message: `must be a time such as 22:30, not '${time}'` }]
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
