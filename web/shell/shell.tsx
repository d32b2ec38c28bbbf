import {
  ActionIcon,
  AppShell,
  Badge,
  Burger,
  Group,
  Indicator,
  Menu,
  NavLink,
  ScrollArea,
  Text,
  useComputedColorScheme,
  useMantineColorScheme,
  VisuallyHidden,
} from '@mantine/core'
import { useDisclosure, useHotkeys } from '@mantine/hooks'
import { IconBell, IconMoon, IconSearch, IconSun, IconUser } from '@tabler/icons-react'
import { useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useEffect } from 'react'
import { Link, useLocation } from 'wouter'
import { askPlatform } from '../api.ts'
import { adminPages, groups, isOpenTo, sitePages } from '../pages/pages.ts'
import { useMay, useOverview, useSites, useUnreadCount, useUser } from '../queries.ts'
import { dropDrafts } from '../ui/draft.ts'
import { loaded } from '../ui/lazy-chart.tsx'

const Search = loaded(
  () => import('./search.tsx'),
  () => null,
)

export function Shell({ children }: { children: ReactNode }) {
  const [is_open, menu] = useDisclosure()
  const [is_searching, search] = useDisclosure()
  const site_id = useSiteId()
  useHotkeys([['mod+K', search.open]], [])
  const [path] = useLocation()
  // biome-ignore lint/correctness/useExhaustiveDependencies: the menu closes when the page changes
  useEffect(menu.close, [path])
  return (
    <AppShell
      header={{ height: 52 }}
      navbar={{ width: 220, breakpoint: 'sm', collapsed: { mobile: !is_open } }}
      padding={{ base: 'xs', sm: 'md' }}
    >
      <a className="skip-link" href="#content">
        Skip to content
      </a>
      <AppShell.Header>
        <Group h="100%" px="sm" justify="space-between" wrap="nowrap">
          <Group gap="xs" wrap="nowrap">
            <Burger
              opened={is_open}
              onClick={menu.toggle}
              hiddenFrom="sm"
              size="sm"
              aria-label="Menu"
            />
            <Link href="/" className="brand">
              <img src="/icon.svg" alt="" width={24} height={24} /> Heliograph
            </Link>
          </Group>
          <Group gap="xs" wrap="nowrap">
            <SearchButton onOpen={search.open} />
            <Bell />
            <ColorScheme />
            <PersonMenu />
          </Group>
        </Group>
      </AppShell.Header>
      <AppShell.Navbar aria-label="Pages">
        <ScrollArea>
          <Pages />
        </ScrollArea>
      </AppShell.Navbar>
      {is_searching && <Search site_id={site_id} onClose={search.close} />}
      <AppShell.Main id="content" tabIndex={-1}>
        {children}
      </AppShell.Main>
    </AppShell>
  )
}

const look = { variant: 'subtle', color: 'gray', size: 'lg' } as const

const SearchButton = ({ onOpen }: { onOpen: () => void }) => (
  <ActionIcon
    {...look}
    onClick={onOpen}
    aria-label="Search and switch site"
    aria-keyshortcuts="Control+K Meta+K"
    title="Search and switch site (Ctrl K)"
  >
    <IconSearch size={20} />
  </ActionIcon>
)

function useSiteId(): string | undefined {
  const [path] = useLocation()
  return /^\/sites\/([^/]+)/.exec(path)?.[1]
}

/** Unread notifications, also shown on a phone, where the menu is closed. */
function Bell() {
  const site_id = useSiteId()
  return useMay()('om:read') && site_id !== undefined ? <BellOf site_id={site_id} /> : null
}

function BellOf({ site_id }: { site_id: string }) {
  const count = useUnreadCount({ site_id }) ?? 0
  return (
    <Indicator label={shortOf(count)} disabled={count === 0} color="red" size={18} offset={8}>
      <ActionIcon
        component={Link}
        href={`/sites/${site_id}/notifications`}
        {...look}
        aria-label={count === 0 ? 'Notifications' : `Notifications: ${count} unread`}
      >
        <IconBell size={20} />
      </ActionIcon>
    </Indicator>
  )
}

const shortOf = (count: number) => (count > 99 ? '99+' : count)

function ColorScheme() {
  const { setColorScheme } = useMantineColorScheme()
  const scheme = useComputedColorScheme('light', { getInitialValueInEffect: false })
  const other = scheme === 'dark' ? 'light' : 'dark'
  return (
    <ActionIcon {...look} onClick={() => setColorScheme(other)} aria-label={`Use ${other} colours`}>
      {scheme === 'dark' ? <IconSun size={20} /> : <IconMoon size={20} />}
    </ActionIcon>
  )
}

function PersonMenu() {
  const user = useUser()
  const queries = useQueryClient()
  const [, go] = useLocation()
  const leave = async () => {
    await askPlatform('POST', '/auth/sign-out')
    dropDrafts()
    queries.clear()
    go('/sign-in')
  }
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon {...look} aria-label={`Signed in as ${user.name}`}>
          <IconUser size={20} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>
          {user.name} ({user.role})<br />
          {user.client}
        </Menu.Label>
        <Menu.Item component={Link} href="/account">
          My account
        </Menu.Item>
        <Menu.Item onClick={() => void leave()}>Sign out</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}

/** Pages of the open site, then pages that belong to no site. */
function Pages() {
  const [path] = useLocation()
  const user = useUser()
  const site_id = useSiteId()
  const { data: sites } = useSites()
  const is_unknown = sites !== undefined && !sites.data.some((site) => site.site_id === site_id)
  return (
    <>
      {site_id && !is_unknown && <SitePages site_id={site_id} path={path} />}
      <Heading>{site_id ? 'All sites' : 'Pages'}</Heading>
      {adminPages
        .filter((page) => page.label && isOpenTo(page, user))
        .map((page) => (
          <PageLink
            key={page.path}
            href={page.path}
            label={page.label}
            is_here={path === page.path}
          />
        ))}
    </>
  )
}

function SitePages({ site_id, path }: { site_id: string; path: string }) {
  const may = useMay()
  const { data: sites } = useSites()
  const name = sites?.data.find((site) => site.site_id === site_id)?.name ?? site_id
  const counts = useCounts(site_id)
  return (
    <>
      <Text fw={600} px="sm" pt="sm">
        {name}
      </Text>
      {groups.map((group) => {
        const pages = sitePages.filter((page) => page.group === group && may(page.scope))
        if (pages.length === 0) return null
        return (
          <div key={group}>
            <Heading>{group}</Heading>
            {pages.map((page) => {
              const href = `/sites/${site_id}${page.path}`
              const is_here = page.path === '' ? path === href : path.startsWith(href)
              return (
                <PageLink
                  key={page.path}
                  href={href}
                  is_here={is_here}
                  label={page.label}
                  count={counts[page.path]}
                />
              )
            })}
          </div>
        )
      })}
    </>
  )
}

interface PageLinkProps {
  href: string
  label: string | undefined
  is_here: boolean
  count?: ReactNode
}

/** A large row for touch, a small one on a desktop. */
const PageLink = ({ href, label, is_here, count }: PageLinkProps) => (
  <NavLink
    component={Link}
    href={href}
    label={label}
    py={{ base: 8, sm: 4 }}
    active={is_here}
    aria-current={is_here ? 'page' : undefined}
    rightSection={count}
  />
)

/** Counts of open items, by path of their page. */
function useCounts(site_id: string): Record<string, ReactNode> {
  const may = useMay()
  const { data: overview } = useOverview({ site_id })
  const unread = useUnreadCount({ site_id }, may('om:read'))
  return {
    '/alerts': countOf(overview?.alerts?.active, 'unacknowledged'),
    '/notifications': countOf(unread, 'unread'),
  }
}

const countOf = (count: number | undefined, of_what: string) =>
  count ? (
    <Badge color="red" size="sm" miw="max-content" title={`${count} ${of_what}`}>
      {shortOf(count)} <VisuallyHidden>{of_what}</VisuallyHidden>
    </Badge>
  ) : null

function Heading({ children }: { children: ReactNode }) {
  return (
    <Text size="xs" fw={600} c="dimmed" px="sm" pt="sm" tt="uppercase">
      {children}
    </Text>
  )
}
