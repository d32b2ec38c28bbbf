/** Texts of the OpenAPI document: title, introduction and the description of each tag. */
import { heavy_introduction } from './heavy-reads.ts'
import { export_introduction } from './openapi-export.ts'
import { per_minute, window_s } from './rate-limit.ts'
import { window_days_max } from './windows.ts'

export const title = 'Heliograph API'

/** Version of the API, independent of the version of the program. */
export const interface_version = '1.0.0'

/** The tags of endpoints with their descriptions, in the order of the reference. */
export const tags: Readonly<Record<string, string>> = {
  Sites: 'Sites that the key can access. All other paths contain a `site_id`.',
  Plant: 'Live state of the whole site, its locations and its data gaps.',
  Loggers:
    'Loggers, each of which is one plant of the site: live state, history and hourly energy.',
  Inverters: 'Inverters: live state, history and alarm words.',
  Strings:
    'PV strings of an inverter: configuration, live currents and history. Indexes start at 0.',
  Sensors: 'Sensor and fan nodes of the transformer stations.',
  Weather: 'Measurements of the met stations of the site.',
  Diagnostics: 'Efficiency rankings, string health and losses. Each follows a documented rule.',
  'I-V curves': 'Panel models, and the expected against the measured output of strings.',
  Energy: 'Energy by day and by hour.',
  Curtailment:
    'Limits on the power of plants. A limit only lowers power. The grid permit applies at all ' +
    'times, also after a release; no request can read or change it.',
  Markets: 'Electricity markets and their day-ahead prices.',
  Earnings: 'Revenue: gross, fees and net.',
  Predictions: 'Forecasts of production and prices as P10, P50 and P90, and their accuracy.',
  Batteries: 'Battery storage: live state, histories, alarms, and dispatch schedules to approve.',
  Alerts: 'Alerts of the site: list, acknowledge, resolve.',
  'Work orders': 'Work orders and their checklists.',
  Maintenance: 'Inspection categories and the notifications of operation and maintenance.',
  Defects: 'Defects found on site.',
  Reports: 'Report templates, runs and subscriptions.',
  Events: 'What happened at a site: a list to poll, and a stream.',
}

export const introduction = `
The Heliograph API gives access to solar plants over HTTP and JSON: live state, history and
diagnostics of every device, curtailment of plants and dispatch of batteries.

## Requests

Send \`Authorization: Bearer <API key>\` with every request. Keys are accepted in no other place.
All paths except \`/v1/sites\` contain the id of a site that the key can access. Each operation
lists the scope that the key needs and the module that the plan of the client needs. Bodies are
JSON in UTF-8. Unknown query parameters, and repeated parameters that take one value, are rejected
with 422: a typing error must not pass silently in a system that controls plants.

## Answers

A list is \`{ "data": [ … ], "meta": { "count": … } }\`. \`count\` is the number of matching items,
whatever the limit. A single object is returned without an envelope. Every field is always present,
unless its description names the parameter that adds it. \`null\` means not measured, not applicable
or not among the \`fields\` of a request; \`0\` is a measurement.

\`meta.truncated\` is true when a series was cut. Continue with \`meta.next_start\` as \`start\`, or
with \`meta.previous_end\` as \`end\`. Lists with a \`cursor\` parameter are paged: pass
\`meta.next_cursor\` as \`cursor\`, with all other parameters unchanged, until it is null.

Live objects contain the time of measurement (\`measured_at\`), its age (\`age_s\`) and its
\`quality\`. Items that cannot be served are omitted; \`meta.omitted\` is their number, and is absent
when there are none. Answers are compressed on request (br, gzip). Operations that return an
\`ETag\` support \`If-None-Match\`.

## Errors

Every error is \`{ "error": { "code", "message", "request_id", "details" } }\`. Branch on \`code\`,
which is stable. \`message\` is for people and may change. A \`validation_error\` lists all violations
in \`details.errors\`. Quote \`request_id\` when you report a problem. It is also in the header
\`X-Request-Id\`, which you may set in the request.

A 503 has a \`details.reason\` when the reason is known:

- \`statement_timeout\`, \`lock_timeout\`: the database took too long.
- \`serialization_failure\`: a concurrent write came first.
- \`numeric_overflow\`: a stored value exceeds its range. In a write, such a value is rejected with
  422 and the code \`out_of_range\`.
- \`value_outside_schema\`: a value does not match the schema; \`details.field\` is its path.

Nothing was stored in any of these cases. Malformed or slow connections are answered with 400, 405,
408 or 431 in the same form.

## Rate limits

Each key may send ${per_minute.general} requests in any ${window_s} s, of which ${per_minute.write} may be writes, unless the
operator has set other limits. \`RateLimit-Policy\` contains the limits. \`RateLimit\` contains the
remaining requests and the seconds until more are available. A 429 has a \`Retry-After\` in seconds.
To monitor whole sites, poll \`/overview\` instead of single devices.

## Writes

Send a new unique \`Idempotency-Key\` (a UUID) with each write, and the same key when you retry it.
Within 24 hours a retry executes nothing and returns the recorded answer byte for byte, with
\`Idempotent-Replayed: true\`. The same key with a different request is rejected with 422
\`idempotency_conflict\`. Writes to a site in commissioning safe mode are rejected with 409
\`conflict_safe_mode\`. Curtailment and battery dispatch are control writes: they command the plant.
No request can raise a plant above its grid permit.

## Time

Timestamps are RFC 3339. Requests may use any offset; a timestamp without an offset is rejected.
Answers are in UTC and end in \`Z\`. Windows are half-open: \`start\` is included, \`end\` is not. Dates
are UTC days as \`YYYY-MM-DD\`, both included.

A series with \`start\` returns the first rows of the window; without \`start\` it returns the newest
rows before \`end\`. Rows are in ascending order in both cases. A \`limit\` above the maximum is
reduced to it. No window is rejected for its length. A series without a \`limit\` parameter returns the
first ${window_days_max} days: \`meta.truncated\` is then true, and \`meta.next_start\` is the \`start\` of the
rest. Files have it in their \`Link\` header (\`rel="next"\`). Forecasts end with the last forecast hour.
Sums and rankings cover the whole window.

## Steps

Histories of readings return every stored reading, or one item for each step of time with \`every\`.
A measurement is the arithmetic mean of its readings in the step, to six digits. States, counters,
codes and alarm words are the last known values of the step. \`quality\` is the worst of the
readings. Steps without readings are left out, so that a mean of a day covers the hours with
readings alone: see \`completeness_pct\`.

\`meta.resolution_s\` tells where older readings are kept thinned: the longest time, in seconds, that
one stored reading stands for in the returned window, 60 or 3600, or the step if that is longer. It
is null when every reading was kept. Where parts of the window differ, the value is that of the
coarsest.

## Units and signs

Field names end in their unit: \`power_kw\`, \`energy_kwh\`, \`irradiance_w_m2\`. \`_pct\` ranges from 0
to 100, \`_ratio\` from 0 to 1. Power is positive towards the grid: generation, discharge and export
are positive, charging and import are negative. Injected reactive power is positive. Counters are
returned as the device reports them.

${heavy_introduction.trim()}

${export_introduction.trim()}

## Compatibility

Within \`/v1\`, changes only add: operations, optional parameters, fields, values of open
enumerations (\`x-open-enum\`) and error codes. Ignore what you do not know. Operations to be retired
are announced twelve months ahead with the headers \`Deprecation\`, \`Sunset\` and \`Link\`.
`.trim()
