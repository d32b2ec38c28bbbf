/**
 * Rows are inverters, columns are strings. Only the visible part is drawn, on a canvas that stays
 * in place while the map scrolls, so that maps of any size are fast.
 */
import type { StringHealth } from '@heliograph/sdk'
import { Box, Group, Text, useComputedColorScheme } from '@mantine/core'
import { useElementSize } from '@mantine/hooks'
import { type KeyboardEvent, type MouseEvent, useEffect, useMemo, useRef, useState } from 'react'
import { useLocation } from 'wouter'
import { useMay, useSite } from '../../../queries.ts'
import { SiteLink } from '../../../ui/page.tsx'
import {
  cellAt,
  drawMap,
  type Grid,
  gridOf,
  head_px,
  type Place,
  type Size,
  sizeOf,
} from './grid.ts'
import { Swatch } from './legend.tsx'
import { reasonOf } from './reason.ts'

export default function HeatMap({ strings }: { strings: readonly StringHealth[] }) {
  const { site_id } = useSite()
  const grid = useMemo(() => gridOf(strings), [strings])
  const [place, setPlace] = useState<Place | null>(null)
  const { frame, view, canvas, draw, size, seen } = useDrawing(grid, place)
  const [, go] = useLocation()
  const found = place && (grid.rows[place.row]?.strings[place.column] ?? null)

  const onMove = (event: MouseEvent<HTMLDivElement>) => {
    const next = pointedAt(event, grid, size)
    if (next && (next.row !== place?.row || next.column !== place?.column)) setPlace(next)
  }
  const open = (string: StringHealth) =>
    go(`/sites/${site_id}/inverters/${string.inverter_id}/strings/${string.string_index}`)
  const onKey = (event: KeyboardEvent<HTMLDivElement>) => {
    if (event.key === 'Enter' && found) return open(found)
    const next = placeAfter(event.key, place, grid)
    if (!next) return
    event.preventDefault()
    setPlace(next)
    reveal(view.current, next, size)
  }
  return (
    <div ref={frame}>
      <Box
        ref={view}
        role="application"
        aria-label={`Map of ${strings.length} strings: arrow keys go from string to string, Enter opens one`}
        aria-describedby="string-of-map"
        tabIndex={0}
        onScroll={draw}
        onMouseMove={onMove}
        onClick={onMove}
        onDoubleClick={() => found && open(found)}
        onKeyDown={onKey}
        onFocus={() => place ?? setPlace({ row: 0, column: 0 })}
        style={{ overflow: 'auto', height: seen.height, position: 'relative' }}
      >
        <div style={{ width: size.width, height: size.height }}>
          <canvas
            ref={canvas}
            style={{ ...seen, position: 'sticky', left: 0, top: 0, display: 'block' }}
          />
        </div>
      </Box>
      <Details string={found} />
    </div>
  )
}

function pointedAt(event: MouseEvent<HTMLDivElement>, grid: Grid, size: Size) {
  const { scrollLeft, scrollTop } = event.currentTarget
  const box = event.currentTarget.getBoundingClientRect()
  const at = { x: event.clientX - box.left, y: event.clientY - box.top }
  return cellAt(grid, size, at, scrollLeft, scrollTop)
}

/** Redraws on every change and on scrolling. */
function useDrawing(grid: Grid, place: Place | null) {
  const { ref: frame, width } = useElementSize()
  const size = useMemo(() => sizeOf(grid, width), [grid, width])
  const scheme = useComputedColorScheme('light')
  const view = useRef<HTMLDivElement>(null)
  const canvas = useRef<HTMLCanvasElement>(null)
  const seen = { width: Math.min(size.width, width), height: Math.min(size.height, 560) }
  const draw = () => {
    if (!canvas.current || !view.current || width === 0) return
    const { scrollLeft: left, scrollTop: top } = view.current
    drawMap(canvas.current, { grid, size, place, scheme, ...seen, left, top })
  }
  useEffect(draw)
  return { frame, view, canvas, draw, size, seen }
}

function Details({ string }: { string: StringHealth | null }) {
  const may = useMay()
  const { inverter_id, inverter_name, string_index } = string ?? {}
  const query = `inverter_id=${inverter_id}&string_index=${string_index}`
  return (
    <Box id="string-of-map" aria-live="polite" mih={76} pt="xs">
      {string ? (
        <>
          <Group gap="xs" wrap="nowrap">
            <Swatch status={string.status} />
            <Text fw={600}>
              {inverter_name}, string {string_index}
            </Text>
          </Group>
          <Text size="sm">{reasonOf(string)}</Text>
          <Group gap="md">
            <SiteLink size="sm" to={`/inverters/${inverter_id}/strings/${string_index}`}>
              Open the string
            </SiteLink>
            {may('om:write') && (
              <SiteLink size="sm" to={`/defects/new?${query}`}>
                Report a defect
              </SiteLink>
            )}
          </Group>
        </>
      ) : (
        <Text size="sm">Select a string by pointer, touch or arrow keys.</Text>
      )}
    </Box>
  )
}

const moves: Record<string, [down: number, right: number]> = {
  ArrowUp: [-1, 0],
  ArrowDown: [1, 0],
  ArrowLeft: [0, -1],
  ArrowRight: [0, 1],
  PageUp: [-10, 0],
  PageDown: [10, 0],
}

function placeAfter(key: string, place: Place | null, grid: Grid): Place | null {
  const move = moves[key]
  if (!move) return null
  if (!place) return { row: 0, column: 0 }
  const within = (at: number, count: number) => Math.min(Math.max(at, 0), count - 1)
  return {
    row: within(place.row + move[0], grid.rows.length),
    column: within(place.column + move[1], grid.columns.length),
  }
}

/** Scrolls a cell that was selected by keyboard into view. */
function reveal(view: HTMLDivElement | null, place: Place, size: Size) {
  if (!view) return
  const x = place.column * size.cell_width
  const y = place.row * size.cell_height
  const seen_x = view.clientWidth - size.names_px - size.cell_width
  const seen_y = view.clientHeight - head_px - size.cell_height
  view.scrollLeft = Math.min(Math.max(view.scrollLeft, x - seen_x), x)
  view.scrollTop = Math.min(Math.max(view.scrollTop, y - seen_y), y)
}
