/** What the mail of a report is called. */
import assert from 'node:assert/strict'
import test from 'node:test'
import type { ReportDocument } from './document.ts'
import { reportMails } from './report-mail.ts'
import type { ClaimedRun, FinishedFile } from './runs.ts'

function subjectOf(name: string, site_name: string): string {
  const run = {
    site_id: 'a',
    run_id: 'r',
    name,
    timezone: 'UTC',
    recipients: ['one@example.com'],
    period_start_at: new Date('2026-06-01T00:00:00Z'),
    period_end_at: new Date('2026-07-01T00:00:00Z'),
  } as ClaimedRun
  const document = { title: 'T', site_name, notes: [] as readonly string[] } as ReportDocument
  const file = { expires_at: run.period_end_at, data_completeness_pct: null } as FinishedFile
  return reportMails(run, document, { ...file, page_count: null })[0]!.subject
}

test('a subject has the site and the period, for any length of the name', () => {
  const period = '2026-06-01 to 2026-06-30'
  assert.equal(subjectOf('Monthly', 'Park'), `Monthly: Park, ${period}`)
  const long = subjectOf('n'.repeat(200), 'Park')
  assert.match(long, /^n{150,}…: Park, 2026-06-01 to 2026-06-30$/)
  assert.equal(long.length, 200)
  const both = subjectOf('\u{1f31e}'.repeat(200), 's'.repeat(300))
  assert.match(both, /^\u{1f31e}{39}…: s{100,}…, 2026-06-01 to 2026-06-30$/u)
  assert.equal([...both].length, 200)
})
