/** Every address, and the page that it shows. */
import { Suspense } from 'react'
import { Redirect, Route, Switch } from 'wouter'
import NotFound from './pages/not-found.tsx'
import { adminPages, openPages, sitePages } from './pages/pages.ts'
import { useSession } from './queries.ts'
import { Shell } from './shell/shell.tsx'
import { SiteShell } from './shell/site-shell.tsx'
import { Failure, Loading } from './ui/states.tsx'

export function App() {
  return (
    <Suspense fallback={<Loading />}>
      <Switch>
        {openPages.map(({ path, Page }) => (
          <Route key={path} path={path} component={Page} />
        ))}
        <Route component={SignedIn} />
      </Switch>
    </Suspense>
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
      <Suspense fallback={<Loading />}>
        <Switch>
          {adminPages
            .filter(({ role }) => !role || role === user.role)
            .map(({ path, Page }) => (
              <Route key={path} path={path} component={Page} />
            ))}
          <Route path="/sites">
            <Redirect to="/" replace />
          </Route>
          <Route path="/sites/:site_id/*?">
            {({ site_id }) => (
              <SiteShell site_id={site_id}>
                <Suspense fallback={<Loading />}>
                  <Switch>
                    {sitePages.map(({ path, Page }) => (
                      <Route key={path} path={`/sites/:site_id${path}`}>
                        {(found: Record<string, string | undefined>) => (
                          <Page {...found} site_id={site_id} />
                        )}
                      </Route>
                    ))}
                    <Route component={NotFound} />
                  </Switch>
                </Suspense>
              </SiteShell>
            )}
          </Route>
          <Route component={NotFound} />
        </Switch>
      </Suspense>
    </Shell>
  )
}
