import { useSite } from '../shell/site-shell.tsx'
import { formatTime } from './format.ts'

interface TimeProps {
  at: string | null | undefined
  style?: 'time' | 'date' | 'full' | 'day'
}

/** An instant in the time of the site, with UTC as its tooltip. */
export function Time(props: TimeProps) {
  const { timezone } = useSite()
  return <TimeIn {...props} timezone={timezone} />
}

/** The same in the zone of the browser, for pages that belong to no site. */
export const LocalTime = (props: TimeProps) => <TimeIn {...props} timezone={browser_zone} />

const browser_zone = Intl.DateTimeFormat().resolvedOptions().timeZone

function TimeIn({ at, style = 'full', timezone }: TimeProps & { timezone: string }) {
  if (!at) return '–'
  return (
    <time dateTime={at} title={`${at.replace('T', ' ').replace(/(\.\d+)?Z$/, '')} UTC`}>
      {formatTime(at, timezone, style)}
    </time>
  )
}
