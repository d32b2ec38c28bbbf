/** Reads of pages. Equal reads share one request, and one copy of the answer. */
import { type Heliograph, HeliographError, isCode, type Site } from '@heliograph/sdk'
import {
  keepPreviousData,
  MutationCache,
  QueryCache,
  QueryClient,
  queryOptions,
  type UseQueryOptions,
  useInfiniteQuery,
  useQuery,
} from '@tanstack/react-query'
import { createContext, useContext } from 'react'
import { askPlatform, heliograph } from './api.ts'
import type { PlatformSession } from './generated/platform.ts'
import { knownNow } from './ui/known-now.ts'

const live_ms = 5000

/** Any request may be the first to find that the session has ended. */
function noticeEnd(error: unknown): void {
  if (error instanceof HeliographError && error.status === 401) {
    void queries.invalidateQueries({ queryKey: ['session'] })
  }
}

const retried_after_ms = 5000

/** No answer, or an answer of a server that is not ready. */
const isPassing = (error: unknown) =>
  error instanceof HeliographError && (error.status === null || error.status >= 500)

/** Reads that do not poll are repeated after a failure as soon as another read succeeds. */
function repeatFailed(): void {
  const before_ms = Date.now() - retried_after_ms
  void queries.refetchQueries({
    type: 'active',
    predicate: ({ state }) =>
      isPassing(state.error) && state.fetchStatus === 'idle' && state.errorUpdatedAt < before_ms,
  })
}

export const queries: QueryClient = new QueryClient({
  queryCache: new QueryCache({ onError: noticeEnd, onSuccess: repeatFailed }),
  mutationCache: new MutationCache({ onError: noticeEnd }),
  defaultOptions: {
    // The SDK retries. Offline, reads fail at once, so that the page can say so.
    queries: {
      networkMode: 'always',
      retry: false,
      staleTime: 10_000,
      refetchOnWindowFocus: true,
      refetchOnReconnect: true,
      refetchInterval: ({ state }) => (isPassing(state.error) ? retried_after_ms : false),
    },
    mutations: { networkMode: 'always', retry: false },
  },
})

export const SiteContext = createContext<Site | null>(null)

export function useSite(): Site {
  const site = useContext(SiteContext)
  if (!site) throw new Error('this page has no site')
  return site
}

type Operation = Exclude<keyof Heliograph, 'file'>
type OfSite<Name extends Operation> = Parameters<Heliograph[Name]>[0] & { site_id: string }
type Asked<Name extends Operation> = Omit<OfSite<Name>, 'site_id'> & { site_id?: string }
type Answer<Name extends Operation> = Awaited<ReturnType<Heliograph[Name]>>
type ReadOptions<Name extends Operation, Data> = Omit<
  UseQueryOptions<Answer<Name>, Error, Data>,
  'queryKey' | 'queryFn'
>

export const readKey = (
  topic: string,
  operation: Operation,
  parameters: Record<string, unknown> & { site_id: string },
) => [topic, parameters.site_id, operation, parameters]

/**
 * A read of one operation of a site, as `useQuery` and `useQueries` take it. A write names the
 * topics whose reads it repeats. A number as `options` is the interval of the read, ms.
 */
export const readOf = <Name extends Operation, Data = Answer<Name>>(
  topic: string,
  operation: Name,
  parameters: OfSite<Name>,
  options: number | ReadOptions<Name, Data>,
) =>
  queryOptions({
    queryKey: readKey(topic, operation, { ...parameters }),
    queryFn: ({ signal }) => {
      const method = heliograph[operation] as (asked: object, options: object) => unknown
      return method.call(heliograph, parameters, { signal }) as Promise<Answer<Name>>
    },
    ...(typeof options === 'number' ? { refetchInterval: options } : options),
  })

/** Reads from the site of the page unless a `site_id` is given. */
export function useRead<Name extends Operation, Data = Answer<Name>>(
  topic: string,
  operation: Name,
  parameters: Asked<Name>,
  options: number | ReadOptions<Name, Data>,
) {
  const site_id = useContext(SiteContext)?.site_id
  const asked = { site_id, ...parameters } as OfSite<Name>
  if (!asked.site_id) throw new Error('this page has no site')
  return useQuery(readOf<Name, Data>(topic, operation, asked, options))
}

/** A read of the platform, for the site of the page if there is one. */
export function usePlatform<Answer>(
  topic: string,
  path: string,
  refetchInterval: number,
  enabled = true,
) {
  const site_id = useContext(SiteContext)?.site_id
  const query = site_id === undefined ? '' : `?site_id=${site_id}`
  return useQuery({
    queryKey: [topic, site_id],
    queryFn: () => askPlatform<Answer>('GET', `${path}${query}`),
    refetchInterval,
    enabled,
  })
}

interface CursorAnswer {
  meta: { next_cursor: string | null }
}

/** A list of the platform, the newest items first, whose earlier items are read by request. */
export const usePlatformList = <Answer extends CursorAnswer>(
  topic: string,
  path: string,
  filter: Readonly<Record<string, string>>,
  options: { enabled?: boolean; refetchInterval?: number },
) =>
  useInfiniteQuery({
    queryKey: [topic, filter],
    initialPageParam: null as string | null,
    placeholderData: keepPreviousData,
    queryFn: ({ pageParam }) => {
      const asked = { limit: '100', ...filter, ...(pageParam && { cursor: pageParam }) }
      return askPlatform<Answer>('GET', `${path}?${new URLSearchParams(asked)}`)
    },
    getNextPageParam: ({ meta }) => meta.next_cursor,
    ...options,
  })

/** Null when nobody is signed in. */
export const useSession = () =>
  useQuery({
    queryKey: ['session'],
    staleTime: 60_000,
    queryFn: async () => {
      try {
        return await askPlatform<PlatformSession>('GET', '/session')
      } catch (error) {
        if (isCode(error, 'not_signed_in')) return null
        throw error
      }
    },
  })

/** For pages that are shown only after sign-in. */
export function useUser(): PlatformSession {
  const { data } = useSession()
  if (!data) throw new Error('nobody is signed in')
  return data
}

/** Tells whether role and plan allow a scope. */
export function useMay(): (scope: string) => boolean {
  const scopes: readonly string[] = useUser().scopes
  return (scope) => scopes.includes(scope)
}

/** Tells whether role, plan and site allow a scope. */
export const useMayRead = () => useMayReadAt(useSite())

export function useMayReadAt(site: Pick<Site, 'scopes'>): (scope: string) => boolean {
  const may = useMay()
  const scopes: readonly string[] = site.scopes
  return (scope) => may(scope) && scopes.includes(scope)
}

export const useSites = () =>
  useQuery({
    queryKey: ['sites'],
    queryFn: ({ signal }) => heliograph.sitesList({}, { signal }),
    refetchInterval: 15_000,
  })

/** The sites with their status, and totals. */
export const useSiteStatuses = () =>
  useQuery({
    queryKey: ['sites', 'status'],
    queryFn: ({ signal }) => heliograph.sitesList({ include: ['status'] }, { signal }),
    refetchInterval: 15_000,
  })

/** The one poll of the live site, shared by pages and banners. */
export const useOverview = (named: { site_id?: string } = {}) =>
  useRead('overview', 'overviewGet', named, {
    select: knownNow,
    refetchInterval: live_ms,
    staleTime: live_ms,
  })

export const useUnreadCount = (named: { site_id?: string } = {}, enabled = true) =>
  useRead('notifications', 'omNotificationsUnreadCount', named, {
    refetchInterval: 20_000,
    enabled,
  }).data?.unread_count
