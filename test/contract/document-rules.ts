/** Rules for the OpenAPI document beyond those of Redocly (redocly.yaml). */

/** A schema of JSON, or any other part of the document. */
type Part = Readonly<Record<string, unknown>>

export interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Part>>>>
  readonly components: { readonly schemas: Readonly<Record<string, Part>> }
}

type Rule = (document: Document) => string[]

/** Numbers without a unit, by their names. Every other number has one. */
const without_unit: readonly RegExp[] = [
  // Identities, counts and positions.
  /(^|_)(id|idx|index|count|frames|code|limit|offset)$/,
  /^(position|version|superseded_by|revision|register|raw|address|omitted)$/,
  // Devices counted by state, alarms by severity and source, schedules and items by progress.
  /^(loggers|inverters|sensors|strings)_[a-z_]+$/,
  /^(info|warning|major|critical|total_active|unacknowledged)$/,
  /^(bms|cluster|pcs|hvac|fire|meter|ems|communication|level)$/,
  /^(proposed|approved|rejected|checklist_(total|done|failed))$/,
  // Reports and mails counted by kind.
  /^(templates_total|subscriptions_active|runs_last_30d|runs_failed_last_30d|recipients_sent)$/,
  // Parts of a module, full cycles and their rate.
  /^(cells_in_series|(cells|temperature_sensors)_per_module)$/,
  /^(cycles|cycles_today|warranty_cycles|c_rate)$/,
  // Ratios to a named reference, ranks and scores.
  /_ratio_to_[a-z]+$|^([a-z_]+_rank|rank|rank_of_day|group_size|z_score)$/,
  /^(days_below_threshold|correlation_with_median|(fixed_)?power_factor)$/,
  // Geographic degrees; the currency stands beside amounts and rates.
  /(^|_)(latitude|longitude)$/,
  /^(rate|amount|fx_rate|fx_rate_to_base)$/,
  // Bits and words of alarms, inputs of a combiner.
  /^(throttle_source|alarm_[1-5]|alarm_word|word|bit|mask|combiner_input)$/,
  // Hours of the day, days of the week and of the month.
  /^(hour|peak_hour|start_hour|end_hour|hours_in_window|day_of_week|day_of_month)$/,
]

const checklist_limits = ['max_value', 'min_value']
/** Numbers whose unit stands in a field beside them, and counts by a name of their own. */
const without_unit_in: Readonly<Record<string, readonly string[]>> = {
  SensorChannel: ['value'],
  Alert: ['threshold', 'value'],
  AlertsNow: ['acknowledged', 'active'],
  UnreadByType: [
    'alert_escalated',
    'alert_raised',
    'comment',
    'defect_created',
    'defect_updated',
    'report_ready',
    'system',
    'work_order_approved',
    'work_order_assigned',
    'work_order_completed',
    'work_order_overdue',
  ],
  AlarmDecodingNotAvailableItem: ['value'],
  BatteryAlarmState: ['raw_value', 'threshold_value'],
  BatteryAlarmTransition: ['value'],
  BatteryProtection: ['recover_value', 'trip_value'],
  BatterySetupRegister: ['value'],
  // In percent or kW, by `limit_mode`.
  CurtailmentGroup: ['limit_value'],
  CurtailmentImmediate: ['limit_value'],
  CurtailmentRow: ['limit_value'],
  CurtailmentWindow: ['limit_value'],
  InstrumentNow: ['value'],
  WeatherSensor: ['value'],
  ChecklistItem: [...checklist_limits, 'value_number'],
  ChecklistItemChange: [...checklist_limits, 'value_number'],
  DefaultChecklistItem: checklist_limits,
  NewChecklistItem: checklist_limits,
  WorkOrderPart: ['quantity'],
}

export const documentRules: Readonly<Record<string, Rule>> = {
  'an operation states its scope, module, rate and whether it commands'({ paths }) {
    return Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).flatMap(([method, operation]) => [
        ...['x-required-scope', 'x-module', 'x-control-write']
          .filter((field) => operation[field] === undefined)
          .map((field) => `${method} ${path}: ${field} is missing`),
        ...(operation['x-rate-limit'] ? [] : [`${method} ${path}: x-rate-limit is missing`]),
      ]),
    )
  },
  'the name of a number ends in its unit, unless it counts, ranks or identifies': (document) =>
    propertiesOf(document)
      .filter(({ schema }) => typesOf(schema).some((type) => /^(number|integer)$/.test(type)))
      .filter(({ name }) => !without_unit.some((pattern) => pattern.test(name)))
      .filter(({ of, name }) => !without_unit_in[of]?.includes(name))
      .filter(({ schema }) => !schema['x-unit'])
      .map(({ of, name }) => `${of}.${name} ends in no unit of server/http/openapi-text.ts`),
  'the list of numbers without a unit names numbers of the document': (document) => {
    const properties = propertiesOf(document)
    return Object.entries(without_unit_in).flatMap(([of, names]) =>
      names
        .filter((name) => !properties.some((each) => each.of === of && each.name === name))
        .map((name) => `${of}.${name} is not in the document`),
    )
  },
  'a name in _at holds a timestamp': (document) =>
    withOtherFormat(document, /(_at|^previous_end)$/, ['date-time']),
  'next_start holds a timestamp or a day, as the parameter start': (document) =>
    withOtherFormat(document, /^next_start$/, ['date-time', 'date']),
  'a name in _date holds a day': (document) =>
    withOtherFormat(document, /(_date|^date)$/, ['date']),
  'an enumeration has each value once': ({ components }) =>
    partsOf(components, 'components').flatMap(([at, { enum: values }]) =>
      Array.isArray(values) && new Set(values).size < values.length ? [`${at}: ${values}`] : [],
    ),
  'an array says what its items are': ({ components }) =>
    partsOf(components.schemas, 'schemas')
      .filter(([, part]) => typesOf(part).includes('array') && part['items'] === undefined)
      .map(([at]) => `${at}: items is missing`),
  'a description holds no script': (document) =>
    partsOf(document, 'document').flatMap(([at, { description }]) =>
      typeof description === 'string' && /<script|\beval\(/i.test(description)
        ? [`${at}: ${description}`]
        : [],
    ),
}

interface Property {
  /** The schema that has it. */
  of: string
  name: string
  schema: Part
}

function propertiesOf({ components }: Document): Property[] {
  return Object.entries(components.schemas).flatMap(([of, { properties = {} }]) =>
    Object.entries(properties as Record<string, Part>).map(([name, schema]) => ({
      of,
      name,
      schema,
    })),
  )
}

function withOtherFormat(document: Document, names: RegExp, formats: readonly string[]): string[] {
  return propertiesOf(document)
    .filter(({ name, schema }) => names.test(name) && !formats.includes(String(schema['format'])))
    .map(({ of, name }) => `${of}.${name} must have format ${formats.join(' or ')}`)
}

const typesOf = ({ type }: Part) => [type].flat().filter((each) => typeof each === 'string')

/** The part and all parts in it, each with its address. */
function partsOf(part: object, at: string): [at: string, part: Part][] {
  const within = Object.entries(part).flatMap(([name, value]) =>
    typeof value === 'object' && value !== null ? partsOf(value, `${at}.${name}`) : [],
  )
  return [[at, part as Part], ...within]
}
