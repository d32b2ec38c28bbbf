import { type ReactNode, Suspense } from 'react'
import { Redirect, Route, Switch } from 'wouter'
import NotFound from './pages/not-found.tsx'
import { adminPages, isOpenTo, openPages, type SitePageProps, sitePages } from './pages/pages.ts'
import { useSession } from './queries.ts'
import { Shell } from './shell/shell.tsx'
import { SiteShell } from './shell/site-shell.tsx'
import { PageBoundary } from './ui/page-boundary.tsx'
import { Failure, Loading } from './ui/states.tsx'

export function App() {
  return (
    <PageBoundary>
      <Suspense fallback={<Loading />}>
        <Switch>
          {openPages.map(({ path, Page }) => (
            <Route key={path} path={path} component={Page} />
          ))}
          <Route component={SignedIn} />
        </Switch>
      </Suspense>
    </PageBoundary>
  )
}

function SignedIn() {
  const { data: user, error, refetch, isPending } = useSession()
  if (isPending) return <Loading />
  if (error) return <Failure error={error} onRetry={refetch} />
  if (!user) {
    const back = encodeURIComponent(location.pathname + location.search)
    return <Redirect to={`/sign-in?back=${back}`} />
  }
  return (
    <Shell>
      <Parts>
        <Switch>
          {adminPages
            .filter((page) => isOpenTo(page, user))
            .map(({ path, Page }) => (
              <Route key={path} path={path} component={Page} />
            ))}
          <Route path="/sites">
            <Redirect to="/" replace />
          </Route>
          <Route path="/sites/:site_id/*?">
            {({ site_id }) => (
              <SiteShell site_id={site_id}>
                <Parts>
                  <Switch>
                    {sitePages.map(({ path, Page }) => (
                      <Route key={path} path={`/sites/:site_id${path}`}>
                        {(found: SitePageProps) => <Page {...found} />}
                      </Route>
                    ))}
                    <Route component={NotFound} />
                  </Switch>
                </Parts>
              </SiteShell>
            )}
          </Route>
          <Route component={NotFound} />
        </Switch>
      </Parts>
    </Shell>
  )
}

/** Header and menu stay while a page loads or fails. */
const Parts = ({ children }: { children: ReactNode }) => (
  <PageBoundary>
    <Suspense fallback={<Loading />}>{children}</Suspense>
  </PageBoundary>
)
