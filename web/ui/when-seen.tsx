import { useIntersection } from '@mantine/hooks'
import { type ReactNode, useState } from 'react'

interface WhenSeenProps {
  /** Height of the empty place, px. */
  height: number
  children: ReactNode
}

/** Shows and reads its children once a person scrolls near them. */
export function WhenSeen({ height, children }: WhenSeenProps) {
  const { ref, entry } = useIntersection({ rootMargin: '100px' })
  const [is_seen, setSeen] = useState(false)
  if (entry?.isIntersecting && !is_seen) setSeen(true)
  return (
    <div ref={ref} style={is_seen ? undefined : { minHeight: height }}>
      {is_seen && children}
    </div>
  )
}
