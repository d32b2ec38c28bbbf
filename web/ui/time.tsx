import { formatTime } from './format.ts'

/** An instant at the site's clocks; in UTC when pointed at. */
export function Time({
  at,
  timezone,
  style = 'full',
}: {
  at: string | null | undefined
  timezone: string
  style?: 'time' | 'date' | 'full' | 'day'
}) {
  if (!at) return <>–</>
  return (
    <time dateTime={at} title={`${at.replace('T', ' ').replace(/(\.\d+)?Z$/, '')} UTC`}>
      {formatTime(at, timezone, style)}
    </time>
  )
}
