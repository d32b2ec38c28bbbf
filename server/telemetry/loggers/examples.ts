import { loggerExample, measuredIn } from '../../plant/device-examples.ts'

export const loggerReadingExample = {
  measured_at: '2026-06-21T10:00:00Z',
  quality: 'good' as const,
  ...measuredIn('logger', loggerExample),
}
