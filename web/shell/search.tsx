/** Search over what a person can open, by keyboard; an empty text offers the sites. */
import { Combobox, ScrollArea, Text, TextInput, useCombobox } from '@mantine/core'
import { IconSearch } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useEffect, useMemo, useState } from 'react'
import { useLocation } from 'wouter'
import { useOpenAlerts } from '../pages/alerts/open-alerts.ts'
import { useOpenOrders } from '../pages/overview/reads.ts'
import { sitePages } from '../pages/pages.ts'
import { readOf, useMay, useSites } from '../queries.ts'
import { Modal } from '../ui/form.tsx'
import {
  alertItems,
  deviceItems,
  foundItems,
  type Item,
  orderItems,
  siteItems,
} from './search-items.ts'

interface SearchProps {
  site_id: string | undefined
  onClose: () => void
}

export default function Search({ site_id, onClose }: SearchProps) {
  const [text, setText] = useState('')
  const [, go] = useLocation()
  const combobox = useCombobox({ opened: true })
  const items = useItems(site_id)
  const found = useMemo(() => {
    const offered = text.trim() === '' ? items.filter(({ kind }) => kind === 'Sites') : items
    return foundItems(offered, text)
  }, [items, text])
  // biome-ignore lint/correctness/useExhaustiveDependencies: Enter opens the first that is found
  useEffect(() => {
    combobox.selectFirstOption()
  }, [found])
  const open = (href: string) => {
    onClose()
    go(href)
  }
  return (
    <Modal onClose={onClose} title="Search" yOffset="10vh">
      <Combobox store={combobox} onOptionSubmit={open}>
        <Combobox.EventsTarget withExpandedAttribute>
          <TextInput
            data-autofocus
            aria-label="Search"
            placeholder="Site, page, device, serial number, work order, alert"
            leftSection={<IconSearch size={16} aria-hidden />}
            value={text}
            onChange={({ currentTarget: { value } }) => setText(value)}
            onKeyDown={({ key }) => {
              const first = found[0]?.[1][0]
              // The options are drawn after the field.
              const is_chosen = combobox.getSelectedOptionIndex() >= 0
              if (key === 'Enter' && first && !is_chosen) open(first.href)
            }}
          />
        </Combobox.EventsTarget>
        <ScrollArea.Autosize mah="55vh" type="auto" mt="sm">
          <Combobox.Options aria-label="Found">
            {found.length === 0 && <Combobox.Empty>Nothing found</Combobox.Empty>}
            {found.map(([kind, own]) => (
              <Combobox.Group key={kind} label={kind}>
                {own.map((item) => (
                  <Combobox.Option key={item.href} value={item.href}>
                    <Text size="sm" lineClamp={2}>
                      {item.label}
                    </Text>
                    <Text size="xs">{item.hint}</Text>
                  </Combobox.Option>
                ))}
              </Combobox.Group>
            ))}
          </Combobox.Options>
        </ScrollArea.Autosize>
      </Combobox>
    </Modal>
  )
}

const static_paths = sitePages.map(({ path }) => path).filter((path) => !path.includes(':'))

/** Devices and work orders are those of the open site; alerts and sites are all. */
function useItems(site_id: string | undefined): Item[] {
  const [path] = useLocation()
  const may = useMay()
  const sites = useSites().data?.data
  const overview = useQuery({
    ...readOf('overview', 'overviewGet', { site_id: site_id ?? '' }, { staleTime: 10_000 }),
    enabled: site_id !== undefined && may('plant:read'),
  }).data
  const orders = useOpenOrders(site_id ?? '', site_id !== undefined && may('om:read')).data
  const alerts = useOpenAlerts(may('alerts:read')).data
  return useMemo(() => {
    const below = `/sites/${site_id}`
    const rest = path.startsWith(below) ? path.slice(below.length) : ''
    const pages = sitePages
      .filter(({ label, scope }) => label && may(scope))
      .map(
        (page): Item => ({
          kind: 'Pages',
          label: page.label ?? '',
          hint: page.group ?? '',
          href: `${below}${page.path}`,
        }),
      )
    return [
      ...siteItems(sites ?? [], rest, static_paths),
      ...(site_id === undefined ? [] : pages),
      ...(overview ? deviceItems(overview) : []),
      ...orderItems(site_id ?? '', orders ?? []),
      ...alertItems(alerts?.pages.flatMap(({ data }) => data) ?? []),
    ]
  }, [path, site_id, sites, overview, orders, alerts, may])
}
