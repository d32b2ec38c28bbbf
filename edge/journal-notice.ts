import type { LinkEvent, Severity } from '@heliograph/domain/link'
import { onceEvent, type Source } from './conditions.ts'

/** Something that was lost, or could not be done. */
export type JournalNotice =
  | { type: 'cut'; file: string; bytes: number; last_good_seq: number; frames: number | null }
  | ({ type: 'dropped' | 'damaged' } & Lost)
  | { type: 'not_removed'; file: string; error: unknown }

/** Frames that left the journal before the server had them. */
export interface Lost {
  first_seq: number
  last_seq: number
  /** Unix ms: when the first and the last of them were journaled. */
  from_at: number
  to_at: number
  frames: number
  /** null when it could not be counted. */
  readings: number | null
}

/** A notice as an event of the edge. */
export function noticeEvent(notice: JournalNotice, source: Source, at: number): LinkEvent {
  const { type, ...details } = notice
  const event = (code: string, severity: Severity, message: string) =>
    onceEvent({ ...source, code, severity }, { at, message, details })
  switch (notice.type) {
    case 'cut': {
      const { bytes, last_good_seq, frames } = notice
      const where = `${bytes} bytes after frame ${last_good_seq}`
      const message = `The journal was damaged: ${where} are lost`
      const lost = frames === null ? '' : `, ${frames} frames`
      return event('journal_cut', 'major', message + lost)
    }
    case 'dropped':
    case 'damaged': {
      const { frames, readings, first_seq, last_seq, from_at, to_at } = notice
      const why = notice.type === 'dropped' ? 'The journal is full' : 'The journal is damaged'
      const range = `${frames} frames (${first_seq} to ${last_seq})`
      const what = `${range} with ${readings ?? 'some'} readings`
      const condition = { ...source, code: `journal_${notice.type}`, severity: 'critical' } as const
      const lost = { first_seq, last_seq, from_at, to_at, dropped_frames: frames, readings }
      return onceEvent(condition, { at, message: `${why}: ${what} are lost`, details: lost })
    }
    case 'not_removed': {
      const error = String(notice.error)
      const said = { at, message: `Cannot write or remove ${notice.file}: ${error}` }
      const condition = { ...source, code: 'journal_file', severity: 'warning' } as const
      return onceEvent(condition, { ...said, details: { file: notice.file, error } })
    }
  }
}
