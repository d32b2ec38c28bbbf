/**
 * Text of OpenMetrics 1.0, which Prometheus scrapes. `prom-client`, by which the server writes its
 * own metrics, has no units, infos and state sets.
 * https://prometheus.io/docs/specs/om/open_metrics_spec/
 */
export const open_metrics_type = 'application/openmetrics-text'

type Labels = Readonly<Record<string, string | number>>

export interface MetricFamily {
  /** Ends with the unit, if there is one. */
  name: string
  type: 'gauge' | 'counter' | 'info' | 'stateset'
  unit?: string
  help: string
  /** Without a value, a sample is left out: an absent series is not measured. */
  samples: readonly (readonly [labels: Labels, value: number | null])[]
}

const suffix = { gauge: '', counter: '_total', info: '_info', stateset: '' } as const

/** Families without any value are left out. `shared` labels precede those of each sample. */
export function openMetricsText(families: readonly MetricFamily[], shared: Labels): string {
  const lines = families.flatMap(({ name, type, unit, help, samples }) => {
    const measured = samples.filter(([, value]) => value !== null)
    if (measured.length === 0) return []
    return [
      `# HELP ${name} ${escaped(help)}`,
      `# TYPE ${name} ${type}`,
      ...(unit ? [`# UNIT ${name} ${unit}`] : []),
      ...measured.map(
        ([labels, value]) =>
          `${name}${suffix[type]}${labelText({ ...shared, ...labels })} ${value}`,
      ),
    ]
  })
  return `${[...lines, '# EOF'].join('\n')}\n`
}

function labelText(labels: Labels): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escaped(String(value))}"`)
  return `{${pairs.join(',')}}`
}

const escaped = (text: string) =>
  text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('"', '\\"')
