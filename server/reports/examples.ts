import { exampleOf } from '../http/example.ts'
import { FileAnswer } from '../http/file-answer.ts'
import { filePath, ReportRun } from './run.ts'
import { catalogTemplate, type NewSubscription, ReportsOverview } from './schemas.ts'
import { ReportSubscription } from './subscription.ts'
import { performanceMonthly } from './templates/performance-monthly.ts'

const run_id = '5b1f0c1e-6f0b-4c55-8a53-0f6f3f4f2f11'
const sha256 = '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'
const file_name = 'demo_performance_monthly_2026-05-01_2026-05-31.pdf'

export const templateExample = catalogTemplate(performanceMonthly)

export const runExample = exampleOf(ReportRun, {
  subscription_id: 7,
  status: 'succeeded',
  period_start_at: '2026-04-30T22:00:00.000Z',
  period_end_at: '2026-05-31T22:00:00.000Z',
  requested_by: 'system',
  queued_at: '2026-06-01T04:00:12.000Z',
  started_at: '2026-06-01T04:00:15.000Z',
  finished_at: '2026-06-01T04:00:18.200Z',
  duration_ms: 3200,
  file_name,
  file_size_bytes: 184_320,
  sha256,
  download_url: filePath('demo', run_id),
  download_expires_at: '2026-07-31T04:00:15.000Z',
  page_count: 6,
  data_completeness_pct: 99.2,
  required_scopes: ['diagnostics:read'],
  omitted_sections: [],
  recipients_sent: 1,
})

export const newSubscriptionExample: NewSubscription = {
  name: 'Monthly performance for the owner',
  template_id: 'performance_monthly',
  frequency: 'monthly',
  day_of_month: 1,
  time_of_day: '06:00',
  timezone: 'Europe/Berlin',
  period: 'previous_month',
  format: 'pdf',
  recipients: ['owner@example.com'],
}

export const subscriptionExample = exampleOf(ReportSubscription, {
  ...newSubscriptionExample,
  day_of_week: null,
  parameters: { worst_count: 20 },
  next_run_at: '2026-07-01T04:00:00.000Z',
  last_run_at: '2026-06-01T04:00:12.000Z',
  last_run_status: 'succeeded',
  last_run_id: run_id,
  created_by: 'Office',
  pending_recipients: [],
  created_at: '2026-02-11T09:30:00.000Z',
  updated_at: '2026-02-11T09:30:00.000Z',
})

export const overviewExample = exampleOf(ReportsOverview, {
  templates_total: 9,
  subscriptions_active: 1,
  runs_last_30d: 1,
  last_run_at: '2026-06-01T04:00:12.000Z',
  next_run_at: '2026-07-01T04:00:00.000Z',
  recent_runs: [runExample],
})

export const fileExample = new FileAnswer({
  bytes: Buffer.from('%PDF-1.7'),
  content_type: 'application/pdf',
  file_name,
  sha256,
})
