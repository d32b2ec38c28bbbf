/** What happens at the site of the page is shown at once: its events name what is read again. */
import { type QueryClient, useQueryClient } from '@tanstack/react-query'
import { createParser } from 'eventsource-parser'
import { useEffect } from 'react'

/** Topics of reads, by what an event is about. */
const topics: Readonly<Record<string, readonly string[]>> = {
  alert: ['alerts', 'open-alerts', 'overview', 'notifications'],
  curtailment: ['curtailment', 'overview'],
  schedule: ['bess'],
  proposal: ['proposals', 'notifications'],
  work_order: ['work-orders', 'work-order', 'notifications'],
  defect: ['defects', 'defect', 'notifications'],
  gap: ['gaps'],
  device: ['overview'],
  edge: ['overview', 'edges'],
  report: ['reports'],
  price: ['markets'],
  forecast: ['predictions'],
}

const pause_ms = 5000

/** Reads that do not change by an event keep their interval. */
export function useSiteEvents(site_id: string): void {
  const queries = useQueryClient()
  useEffect(() => {
    const position: Position = {}
    let following: AbortController | null = null
    const stop = () => {
      following?.abort()
      following = null
    }
    // A browser has few connections to a server for all its tabs: a hidden one holds none.
    const turn = () => {
      if (document.hidden) return stop()
      if (following) return
      following = new AbortController()
      void follow({ site_id, queries, position, signal: following.signal })
    }
    turn()
    document.addEventListener('visibilitychange', turn)
    return () => {
      document.removeEventListener('visibilitychange', turn)
      stop()
    }
  }, [site_id, queries])
}

interface Position {
  last_event_id?: string
}

interface Following {
  site_id: string
  queries: QueryClient
  position: Position
  signal: AbortSignal
}

/** Reads the stream until it is stopped or refused; after a loss it goes on where it was. */
async function follow(following: Following): Promise<void> {
  const { signal } = following
  while (!signal.aborted) {
    const is_refused = await readStream(following).catch(() => false)
    if (is_refused) return
    await new Promise((resolve) => setTimeout(resolve, pause_ms))
  }
}

async function readStream({ site_id, queries, position, signal }: Following): Promise<boolean> {
  const { last_event_id } = position
  const response = await fetch(`/v1/sites/${encodeURIComponent(site_id)}/events`, {
    headers: {
      accept: 'text/event-stream',
      'x-heliograph-session': '1',
      ...(last_event_id !== undefined && { 'last-event-id': last_event_id }),
    },
    credentials: 'same-origin',
    signal,
  })
  if (!response.ok) return response.status < 500 && response.status !== 429
  const changed = new Set<string>()
  const parser = createParser({
    onEvent({ id, event = '' }) {
      if (id !== undefined) position.last_event_id = id
      for (const topic of topics[event.split('.')[0]!] ?? []) changed.add(topic)
    },
  })
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return false
    parser.feed(value)
    for (const topic of changed) void queries.invalidateQueries({ queryKey: [topic] })
    changed.clear()
  }
}
