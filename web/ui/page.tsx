import {
  Alert,
  Anchor,
  type AnchorProps,
  Button,
  type ButtonProps,
  Card,
  Center,
  type ElementProps,
  Group,
  Paper,
  SimpleGrid,
  Stack,
  Text,
  type TextProps,
  Title,
} from '@mantine/core'
import { IconAlertTriangle } from '@tabler/icons-react'
import { type ReactNode, useEffect, useState } from 'react'
import { Link } from 'wouter'
import { useSite } from '../queries.ts'
import styles from './figure-grid.module.css'
import { formatAge, formatTime, none, type TimeStyle } from './format.ts'

function useWindowTitle(title: string) {
  useEffect(() => {
    document.title = `${title} – Heliograph`
  }, [title])
}

export const Heading = ({ children }: { children: ReactNode }) => (
  <Title order={2} size="h4">
    {children}
  </Title>
)

interface TitledProps {
  title: string
  children: ReactNode
}

/** A page with its heading, which is also the title of the window. */
export function Page({ title, actions, children }: TitledProps & { actions?: ReactNode }) {
  useWindowTitle(title)
  return (
    <Stack gap="md">
      <Group justify="space-between">
        <Title order={1} size="h2">
          {title}
        </Title>
        {actions && <Group gap="xs">{actions}</Group>}
      </Group>
      {children}
    </Stack>
  )
}

interface OpenPageProps {
  heading: string
  title?: string
  /** The token of a link, where the page is opened by one; empty when the link was cut off. */
  token?: string
  children: ReactNode
}

/** A page for people who are not signed in: one card in the middle. */
export function OpenPage({ heading, title = heading, token, children }: OpenPageProps) {
  useWindowTitle(title)
  return (
    <Center mih="100vh" p="md" component="main">
      <Paper withBorder p="lg" w={400} maw="100%">
        <Stack>
          <Title order={1} size="h3">
            {heading}
          </Title>
          {token === '' && (
            <Alert color="orange" role="alert">
              This link is incomplete. Open it exactly as it is in the mail.
            </Alert>
          )}
          {children}
        </Stack>
      </Paper>
    </Center>
  )
}

/** A part of a page with its heading, and a link at the right. */
export const Section = ({ title, aside, children }: TitledProps & { aside?: ReactNode }) => (
  <Card padding="sm" component="section">
    <Group justify="space-between" mb="xs" gap="xs">
      <Heading>{title}</Heading>
      {aside}
    </Group>
    {children}
  </Card>
)

/** A part of a page with its heading, without a frame. */
export const Part = ({ title, aside, gap = 'xs', children }: PartProps) => (
  <Stack gap={gap}>
    <Group justify="space-between">
      <Title order={2} size="h3">
        {title}
      </Title>
      {aside}
    </Group>
    {children}
  </Stack>
)

interface PartProps extends TitledProps {
  aside?: ReactNode
  gap?: 'xs' | 'sm'
}

type SiteLinkProps = AnchorProps & ElementProps<'a', keyof AnchorProps> & { to: string }

export function SiteLink({ to, ...rest }: SiteLinkProps) {
  const { site_id } = useSite()
  return <Anchor {...rest} component={Link} href={`/sites/${site_id}${to}`} />
}

/** A link to a page of the site that looks like a button. */
export function SiteButton({ to, ...rest }: ButtonProps & { to: string; children: ReactNode }) {
  const { site_id } = useSite()
  return <Button {...rest} component={Link} href={`/sites/${site_id}${to}`} />
}

export const Muted = (props: TextProps & { children: ReactNode }) => (
  <Text size="sm" c="dimmed" {...props} />
)

export const noted = (value: ReactNode, note: ReactNode) => (
  <>
    {value}
    {note && <Muted>{note}</Muted>}
  </>
)

/** A warning that is not an error. */
export const Notice = ({ title, children }: { title?: string; children: ReactNode }) => (
  <Alert
    variant="default"
    role="status"
    title={title}
    icon={<IconAlertTriangle color="var(--mantine-color-orange-6)" aria-hidden />}
  >
    {children}
  </Alert>
)

export type Fact = [name: string, value: ReactNode]

interface FactsProps {
  rows: readonly Fact[]
  cols?: number
  left_out?: boolean
}

/** Names with values. Null shows a dash, or is hidden with `left_out`. */
export function Facts({ rows, cols = 2, left_out = false }: FactsProps) {
  const shown = left_out ? rows.filter(([, value]) => value !== null) : rows
  return (
    <SimpleGrid
      component="dl"
      cols={{ base: Math.min(cols, 2), xs: cols }}
      spacing="sm"
      verticalSpacing="xs"
      m={0}
    >
      {shown.map(([name, value]) => (
        <div key={name}>
          <Text component="dt" size="sm" c="dimmed">
            {name}
          </Text>
          <Text component="dd" m={0} className="figure" style={{ overflowWrap: 'anywhere' }}>
            {value ?? none}
          </Text>
        </div>
      ))}
    </SimpleGrid>
  )
}

interface FigureProps {
  label: string
  value: ReactNode
  note?: ReactNode
  tone?: 'bad' | 'good' | false | null
}

export const Figure = ({ label, value, note, tone }: FigureProps) => (
  <Card padding="sm">
    <Muted>{label}</Muted>
    <Group gap="xs" align="baseline">
      <Text
        className="figure"
        fz={24}
        fw={600}
        lh={1.3}
        style={{ overflowWrap: 'anywhere' }}
        c={tone === 'bad' ? 'red' : tone === 'good' ? 'teal' : undefined}
      >
        {value}
      </Text>
    </Group>
    {note && (
      <Text size="sm" c="dimmed" component="div">
        {note}
      </Text>
    )}
  </Card>
)

type Metric = readonly [
  label: string,
  value: ReactNode,
  note?: ReactNode,
  tone?: FigureProps['tone'],
]

export const figures = (metrics: readonly Metric[]) =>
  metrics.map(([label, value, note, tone]) => (
    <Figure key={label} label={label} value={value} note={note} tone={tone} />
  ))

/** Metrics beside each other: two columns on a phone, up to `cols` on a wide screen. */
export const FigureGrid = ({ cols = 4, children }: { cols?: number; children: ReactNode }) => (
  <SimpleGrid
    className={styles['grid']}
    type="container"
    cols={{ base: 2, '700px': cols > 4 ? cols / 2 : cols, '1320px': cols }}
    spacing={{ base: 'xs', '600px': 'md' }}
  >
    {children}
  </SimpleGrid>
)

interface NamedFigureProps {
  name: string
  value: string
  note?: string | null
  size?: 'xs' | 'sm'
}

export const NamedFigure = ({ name, value, note, size = 'sm' }: NamedFigureProps) => (
  <div>
    <Text size={size} c="dimmed">
      {name}
    </Text>
    <Text className="figure" fw={600}>
      {value}
    </Text>
    {note && (
      <Text size={size} c="dimmed">
        {note}
      </Text>
    )}
  </div>
)

interface TimeProps {
  at: string | null | undefined
  style?: TimeStyle
}

/** An instant in the time of the site, with UTC as its tooltip. */
export const Time = (props: TimeProps) => <TimeIn {...props} timezone={useSite().timezone} />

/** A time, and who did it; null without a time. */
export const timeBy = (at: string | null, who?: string | null, note?: string | null) =>
  at && (
    <>
      <Time at={at} />
      {who && ` by ${who}`}
      {note && `: ${note}`}
    </>
  )

/** The same in the zone of the browser, for pages that belong to no site. */
export const LocalTime = (props: TimeProps) => <TimeIn {...props} timezone={browser_zone} />

const browser_zone = Intl.DateTimeFormat().resolvedOptions().timeZone

function TimeIn({ at, style = 'full', timezone }: TimeProps & { timezone: string }) {
  if (!at) return none
  return (
    <time dateTime={at} title={`${at.replace('T', ' ').replace(/(\.\d+)?Z$/, '')} UTC`}>
      {formatTime(at, timezone, style)}
    </time>
  )
}

/** `3 min ago`, with the instant as its tooltip; `Never` without one. */
export const ageSince = (at: string | null, now_ms: number) =>
  at === null ? 'Never' : <span title={at}>{formatAge((now_ms - Date.parse(at)) / 1000)}</span>

export function useNow(every_ms: number): number {
  const [now_ms, setNow] = useState(Date.now)
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), every_ms)
    return () => clearInterval(timer)
  }, [every_ms])
  return now_ms
}
