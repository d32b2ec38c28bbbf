/** How pages read: who is signed in, the sites, and the live site, each asked for once for all. */
import { HeliographError, isCode } from '@heliograph/sdk'
import { MutationCache, QueryCache, QueryClient, useQuery } from '@tanstack/react-query'
import { askPlatform, heliograph, type SessionUser } from './api.ts'
import { knownNow } from './ui/known-now.ts'

const live_ms = 5000

/** Where a session has ended, the next request tells, whatever it asks for. */
function noticeEnd(error: unknown): void {
  if (error instanceof HeliographError && error.status === 401) {
    void queries.invalidateQueries({ queryKey: ['session'] })
  }
}

const retried_after_ms = 5000

/** No answer, or one of a server that is not ready. */
const isPassing = (error: unknown) =>
  error instanceof HeliographError && (error.status === null || error.status >= 500)

/** Not all reads poll: those that failed are repeated once the server answers another one. */
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
    // The SDK repeats by itself what is worth repeating.
    // Also offline: then they fail, and the page says so.
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

/** Null: nobody is signed in. */
export const useSession = () =>
  useQuery({
    queryKey: ['session'],
    staleTime: 60_000,
    queryFn: async () => {
      try {
        return await askPlatform<SessionUser>('GET', '/session')
      } catch (error) {
        if (isCode(error, 'not_signed_in')) return null
        throw error
      }
    },
  })

/** Who is signed in, where a page is shown only then. */
export function useUser(): SessionUser {
  const { data } = useSession()
  if (!data) throw new Error('nobody is signed in')
  return data
}

/** What the role and the plan allow. */
export function useMay(): (scope: string) => boolean {
  const { scopes } = useUser()
  return (scope) => scopes.includes(scope)
}

export const useSites = () =>
  useQuery({
    queryKey: ['sites'],
    queryFn: ({ signal }) => heliograph.sitesList({ signal }),
    refetchInterval: 15_000,
  })

/** The one poll of the live site: pages and banners take what they need from it. */
export const useOverview = (site_id: string) =>
  useQuery({
    queryKey: ['overview', site_id],
    queryFn: ({ signal }) => heliograph.overviewGet({ site_id }, { signal }),
    select: knownNow,
    refetchInterval: live_ms,
    staleTime: live_ms,
  })

/** What nobody has read yet of what people are told of. */
export const useUnreadCount = (site_id: string, is_asked = true) =>
  useQuery({
    queryKey: ['notifications', site_id, 'unread-count'],
    queryFn: ({ signal }) => heliograph.omNotificationsUnreadCount({ site_id }, { signal }),
    refetchInterval: 20_000,
    enabled: is_asked,
  }).data?.unread_count
