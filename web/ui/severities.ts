export const alert_severities = ['critical', 'major', 'warning', 'info'] as const

export const bySeverity = (
  a: { severity: (typeof alert_severities)[number] },
  b: { severity: (typeof alert_severities)[number] },
) => alert_severities.indexOf(a.severity) - alert_severities.indexOf(b.severity)
