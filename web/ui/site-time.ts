/** Texts of the server have times in UTC; pages show the local time of the site. */
import { formatTime } from './format.ts'

const instant = /(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d)(?::\d\d)?\s?(?:UTC|Z)\b/g

export const inSiteTime = (text: string, timezone: string): string =>
  text.replaceAll(instant, (_, date: string, clock: string) =>
    formatTime(`${date}T${clock}:00Z`, timezone, 'full'),
  )
